import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../core/database/connect.ts';
import { allMigrationFiles, applyMigration } from '../../core/database/migrate.ts';
import { createBookkeeping } from '../../core/database/tables.ts';
import { quiet } from '../../core/database/test/support.ts';
import { projectRoot } from '../../core/root.ts';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const ID = '01890000-0000-7000-8000-000000000001';
const TARGET = '01890000-0000-7000-8000-00000000dead';
const AT = '2026-03-01T12:00:00.000Z';

for (const dialect of testDatabases()) {
  describe(`The migration of flags to targets that are text on ${dialect}`, () => {
    it('keeps the flags, their places and what refers to them', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'civic-flags-'));
      const { url, drop } = await emptyDatabase(dialect);
      const db = await openDatabase({ url, dataDir: folder, pool: 2, log: quiet });
      try {
        await db.write(createBookkeeping);
        const files = (await allMigrationFiles([{ plugin: 'flags', folder: join(projectRoot, 'dist/plugins/flags/migrations') }])).filter(({ plugin }) => plugin === 'flags');
        const last = files.findIndex(({ name }) => name === '005_places');
        for (const file of files.slice(0, last)) await db.write((tx) => applyMigration(tx, file));
        await db.write(async (tx) => {
          const [{ key }] = await tx('flags_flags').insert({ id: ID, receipt: 'R', target_type: 'entity', target_id: TARGET, flag_type: 'stale', reason: 'Moved', reason_hash: 'h', status: 'open', created_at: AT, updated_at: AT }).returning('key');
          await tx('flags_places').insert({ place_key: 'gladstone,missouri', flag_key: key });
          await tx('flags_reporters').insert({ flag_key: key, email: 'ada@example.org', language: 'en', created_at: AT });
        });
        for (const file of files.slice(last)) await db.write((tx) => applyMigration(tx, file));
        expect(await db.read('flags_flags').join('flags_places', 'flag_key', 'key').select('id', 'target_id', 'place_key')).to.equal([{ id: ID, target_id: TARGET, place_key: 'gladstone,missouri' }]);
        expect(await db.read('flags_reporters').select('email')).to.equal([{ email: 'ada@example.org' }]);
        await db.write((tx) => tx('flags_flags').update({ target_type: 'place', target_id: 'gladstone,missouri' }));
        expect((await db.read('flags_flags').first('target_id')).target_id).to.equal('gladstone,missouri');
      } finally {
        await db.close();
        await drop();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
}

import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { slowness } from '../../core/test/wait.ts';
import { createInstance, runCivic, serveCivic, type Instance } from '../support/civic.ts';
import { afterMounting, mountMissing, seenBy } from '../support/mount.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const missing = mountMissing();
// More rows than the room that is left on the disk.
const ROWS = 1000;
const ROOM_KB = 1000;
const HEADER = 'actor_id,actor_type,property,value,source_url\n';
const row = (number: number) => `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')},organization,name,Association number ${number} of the county,https://example.org/${number}\n`;

describe('An import on a full disk', { timeout: 240_000 }, () => {
  if (missing) console.log(`skipped: ${missing}`);
  let instance: Instance;
  let data: string;
  let key: string;
  before(async () => {
    if (missing) return;
    instance = createInstance({ plugins: { directory: {}, accounts: {} } }, { ready: true });
    data = join(instance.folder, 'data');
    await instance.civicInProcess('account', 'create', '--email', 'ada@example.org', '--name', 'Ada', '--plan', 'team');
    const made = await instance.civicInProcess('key', 'create', '--account', 'ada@example.org', '--name', 'test', '--json');
    ({ key } = JSON.parse(made.stdout) as { key: string });
  });
  after(() => { instance?.remove(); });

  it('that is sent over HTTP gets a response, and leaves no file', { skip: Boolean(missing) }, async () => {
    const imports = join(data, 'imports');
    mkdirSync(imports, { recursive: true });
    const served = await serveCivic(['--config', instance.configFile], { through: afterMounting(`mount -t tmpfs -o size=1m tmpfs ${imports}`) });
    const post = (bytes: number): Promise<Response> => fetch(`${served.url}/api/imports?format=csv`, { method: 'POST', headers: { 'content-type': 'text/csv', 'x-api-key': key }, body: 'a'.repeat(bytes), signal: AbortSignal.timeout(20_000 * slowness) });
    try {
      for (const bytes of [2_000_000, 8_000_000]) {
        const response = await post(bytes);
        expect(response.status).to.equal(503);
        expect(response.headers.get('retry-after')).to.equal('60');
        expect(await response.json()).to.include({ code: 'storage_full', detail: 'The file could not be stored on the disk of the server.' });
      }
      expect(readdirSync(seenBy(served.child.pid!, imports))).to.equal([]);
      expect((await post(1000)).status).to.equal(202);
    } finally {
      expect(await served.stop()).to.equal(0);
    }
  });

  it('on the command line says what is stored, and goes on from there when there is room', { skip: Boolean(missing) }, async () => {
    const file = join(instance.folder, 'many.csv');
    writeFileSync(file, HEADER + Array.from({ length: ROWS }, (_, at) => row(at + 1)).join(''));
    const kept = join(instance.folder, 'kept');
    const script = [
      `cp -a ${data} ${kept}`, `mount -t tmpfs -o size=$(( $(du -sk ${data} | cut -f1) + ${ROOM_KB} ))k tmpfs ${data}`, `cp -a ${kept}/. ${data}`,
      `code=0; "$@" || code=$?`, `rm -rf ${kept}; cp -a ${data} ${kept}`, 'exit $code',
    ].join('\n');
    const ended = await runCivic(['import', 'csv', file, '--config', instance.configFile], { through: ['unshare', '-m', 'sh', '-ec', script, 'sh'] });
    expect(ended.code, ended.stdout).to.equal(1);
    const [, rows, created] = /^The disk is full or cannot be written\. The first (\d+) rows of \S+ are stored \((\d+) created, 0 updated, 0 unchanged\)\.\nMake room on it, then run the same command again: it continues after row \d+\.$/m.exec(ended.stderr) ?? [];
    expect(rows, ended.stderr).to.exist();
    expect(ended.stderr).to.not.contain('Nothing was stored');
    expect(Number(rows)).to.be.between(0, ROWS);
    expect(created).to.equal(rows);
    const again = await instance.civicInProcess('import', 'csv', file, '--data', kept, '--json');
    expect(JSON.parse(again.stdout)).to.include({ resumed_at: Number(rows), counts: { read: ROWS, created: ROWS, updated: 0, unchanged: 0, rejected: 0, joined: 0 } });
  });
});

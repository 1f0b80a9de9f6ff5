import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { migrationFaults } from '../../core/cli/contract.ts';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import { allMigrationFiles, applyMigration } from '../../core/database/migrate.ts';
import { createBookkeeping, recordedTables } from '../../core/database/tables.ts';
import { quiet } from '../../core/database/test/support.ts';
import type { Reader } from '../../core/database/types.ts';
import { bundledPlugins } from '../../core/load.ts';
import { projectRoot } from '../../core/root.ts';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const RECORD = join(projectRoot, 'test/contract/migrations.txt');
const RECORD_COMMAND = 'CIVIC_UPDATE_GOLDEN=1 npm test -- contract/migrations';

const foldersIn = (folder: string): string[] => readdirSync(join(projectRoot, folder)).map((name) => join(folder, name, 'migrations'));

function filesOfMigrations(): string[] {
  const folders = ['core/database/migrations', 'templates/plugin/migrations', ...foldersIn('plugins'), ...foldersIn('test/plugins')];
  return folders.map((folder) => join(projectRoot, folder)).filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).filter((name) => /\.(js|ts)$/.test(name)).map((name) => join(folder, name)));
}

describe('Migrations', () => {
  it('import types only, in core, the plugins, the test plugins and the template', () => {
    const files = filesOfMigrations();
    expect(files.length).to.be.above(25);
    expect(files.flatMap((file) => migrationFaults(file).map((fault) => `${relative(projectRoot, file)} ${fault}`))).to.equal([]);
  });

  it('are rejected with the import that can change', () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-migrations-'));
    const faultsOf = (text: string): string[] => {
      writeFileSync(join(folder, '001_odd.ts'), text);
      return migrationFaults(join(folder, '001_odd.ts'));
    };
    const importing = (name: string): string[] => [`imports ${name}: a migration imports nothing but types, since what it imports may change`];
    try {
      expect(faultsOf("import { LOG_COLUMNS } from '../log/store.ts';\n")).to.equal(importing('../log/store.ts'));
      expect(faultsOf("import { readFileSync } from 'node:fs';\n")).to.equal(importing('node:fs'));
      expect(faultsOf("import { bulkInsert, type Schema } from 'civic';\n")).to.equal(importing('civic'));
      expect(faultsOf("export async function up() { await import('../rows.js'); }\n")).to.equal(importing('../rows.js'));
      expect(faultsOf("import type { Schema } from 'civic';\n/** @param {import('civic').Schema} schema */\nexport async function up() {}\n")).to.equal([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Lists what the database has, a line for each table, column and index; and the kinds that core has recorded. */
async function schemaLines(db: OpenDatabase): Promise<Set<string>> {
  const physical = db.dialect === 'sqlite' ? await sqliteLines(db.read) : await postgresLines(db.read);
  const recorded = (await recordedTables(db.read)).map(({ name, derived, definition }) => `recorded ${name}${derived ? ' derived' : ''} ${JSON.stringify(definition)}`);
  return new Set([...physical, ...recorded].map((line) => line.replace(/\s+/g, ' ')));
}

async function sqliteLines(reader: Reader): Promise<string[]> {
  const rows: { sql: string }[] = await reader.raw("select sql from sqlite_master where sql is not null and name not like 'sqlite!_%' escape '!'");
  // The inner tables of a full-text index, whose names are quoted, are SQLite's own.
  return rows.map(({ sql }) => sql).filter((sql) => !sql.startsWith("CREATE TABLE '"));
}

async function postgresLines(reader: Reader): Promise<string[]> {
  const columns: { line: string }[] = await reader.raw(`
    select concat_ws(' ', 'column', c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), 'collate ' || nullif(l.collname, 'default'),
      case when a.attnotnull then 'not null' end, case a.attidentity when 'd' then 'identity' end) as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_collation l on l.oid = a.attcollation
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`);
  const indexes: { line: string }[] = await reader.raw("select replace(indexdef, current_schema() || '.', '') as line from pg_indexes where schemaname = current_schema()");
  const keys: { line: string }[] = await reader.raw(`
    select concat_ws(' ', 'foreign key', conrelid::regclass::text, pg_get_constraintdef(oid)) as line from pg_constraint
    where connamespace = current_schema()::regnamespace and contype = 'f'`);
  return [...columns, ...indexes, ...keys].map(({ line }) => line);
}

/** The recorded changes of each migration on one database, by its name. */
function recordedChanges(dialect: string): Map<string, string> {
  const parts = existsSync(RECORD) ? readFileSync(RECORD, 'utf8').split(/^# /m).slice(1) : [];
  const sections = parts.map((part): [string, string] => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1).trim()]);
  return new Map(sections.filter(([title]) => title.endsWith(` on ${dialect}`)));
}

async function changesOfEach(db: OpenDatabase): Promise<Map<string, string>> {
  const changes = new Map<string, string>();
  await db.write(createBookkeeping);
  let before = await schemaLines(db);
  const sets = bundledPlugins().map((plugin) => ({ plugin, folder: join(projectRoot, 'dist/plugins', plugin, 'migrations') }));
  for (const file of await allMigrationFiles(sets.filter(({ folder }) => existsSync(folder)))) {
    await db.write((tx) => applyMigration(tx, file), { long: true });
    const after = await schemaLines(db);
    const lines = [...[...before].filter((line) => !after.has(line)).map((line) => `- ${line}`), ...[...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`)];
    changes.set(`${file.plugin}/${file.name} on ${db.dialect}`, lines.sort().join('\n'));
    before = after;
  }
  return changes;
}

for (const dialect of testDatabases()) {
  describe(`Migrations on ${dialect}`, { timeout: 120_000 }, () => {
    it('create the schema that was recorded when each was added', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'civic-migrations-'));
      const { url, drop } = await emptyDatabase(dialect);
      const db = await openDatabase({ url, dataDir: folder, pool: 2, log: quiet });
      try {
        const changes = await changesOfEach(db);
        const recorded = recordedChanges(dialect);
        const added = [...changes].filter(([title]) => !recorded.has(title));
        if (process.env.CIVIC_UPDATE_GOLDEN === '1') {
          for (const [title, text] of added) writeFileSync(RECORD, `# ${title}\n${text}\n\n`, { flag: 'a' });
        } else {
          expect(added.map(([title]) => title), `New migrations are recorded in ${relative(projectRoot, RECORD)} by: ${RECORD_COMMAND}`).to.equal([]);
        }
        for (const [title, text] of recorded) {
          expect(changes.get(title), `${title} is not what was released. Databases have run it already, so leave it as it was and add a new migration`).to.equal(text);
        }
      } finally {
        await db.close();
        await drop();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
}

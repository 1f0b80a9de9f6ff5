import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../core/testing/postgres.ts';

export interface BenchOptions {
  actors: number;
  /** Where the databases are kept for the next run. */
  folder: string;
  /** A Postgres where databases may be made; a cluster of its own, gone with this process, when null. */
  postgres: string | null;
  only: 'sqlite' | 'postgres' | null;
}

export interface BenchDatabase {
  dialect: 'sqlite' | 'postgres';
  folder: string;
  url: string | null;
  /** An empty one beside it; on Postgres a copy, when asked for. */
  another(isCopy: boolean): Promise<{ url: string | null; drop(): Promise<void> }>;
}

let started: Promise<string | null> | null = null;

/** The databases that are measured, each holding so many actors once the import has run. */
export async function benchDatabases({ actors, folder, postgres, only }: BenchOptions): Promise<BenchDatabase[]> {
  const found: BenchDatabase[] = [];
  const at = (name: string) => {
    const path = join(folder, `${name}-${actors}`);
    mkdirSync(path, { recursive: true });
    return path;
  };
  if (only !== 'postgres') found.push({ dialect: 'sqlite', folder: at('sqlite'), url: null, another: async () => ({ url: null, drop: async () => undefined }) });
  if (only === 'sqlite') return found;
  const admin = postgres ?? await (started ??= ownPostgres());
  if (admin === null) return found;
  const name = `bench_${actors}`;
  await query(admin, `create database ${name}`).catch((error: { code?: string }) => { if (error.code !== '42P04') throw error; });
  found.push({
    dialect: 'postgres', folder: at('postgres'), url: urlOf(admin, name),
    async another(isCopy) {
      const other = `${name}_plain`;
      await query(admin, `drop database if exists ${other}`);
      await query(admin, `create database ${other}${isCopy ? ` template ${name}` : ''}`);
      return { url: urlOf(admin, other), drop: () => query(admin, `drop database ${other}`) };
    },
  });
  return found;
}

async function ownPostgres(): Promise<string | null> {
  const postgres = await startPostgres();
  if ('url' in postgres) return postgres.url;
  process.stdout.write(`skipped on Postgres: ${postgres.missing}\n`);
  return null;
}

function urlOf(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

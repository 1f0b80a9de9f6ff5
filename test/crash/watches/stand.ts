import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenDatabase } from '../../../core/database/connect.ts';
import { emptyDatabase, type TestDatabase, type TestDialect } from '../../../core/testing/database.ts';
import { testPlugins, type Instance } from '../../support/civic.ts';
import { readyDatabase } from '../../support/template.ts';
import { look } from '../facts.ts';
import type { Nodes } from '../firehose/nodes.ts';
import type { Desk } from './compare.ts';

export const PLACES = ['liberty,missouri', 'smithville,missouri'];

export interface Stand {
  instance: Instance;
  nodes: Nodes;
  url: string | null;
  key: string;
}

const PLUGINS = { directory: {}, accounts: {}, firehose: {}, workspaces: {}, wire: { from: join(testPlugins, 'wire') } };

/** A database for `killWhileWatching`: on Postgres a copy of a migrated one. */
export async function watchDatabase(dialect: TestDialect): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  return dialect === 'sqlite' ? emptyDatabase(dialect) : readyDatabase(dialect, PLUGINS, tmpdir());
}

export function settings(url: string | null, smtp: string): object {
  // No digest is due during the test.
  const workspaces = { alert_wait_seconds: 0, alert_pause_seconds: 0, digest_hour: (new Date().getUTCHours() + 12) % 24 };
  return {
    database: { url }, log: { level: 'warn', access: 'warn', format: 'json' }, jobs: { poll_seconds: 0.1 },
    plugins: { ...PLUGINS, accounts: { mail: { smtp_url: smtp } }, firehose: { anonymous: true }, workspaces },
  };
}

export async function createKey(instance: Instance): Promise<string> {
  const run = async (...words: string[]): Promise<any> => JSON.parse((await instance.civicInProcess(...words, '--json')).stdout);
  const { id } = await run('account', 'create', '--name', 'Ada', '--email', 'ada@example.org', '--plan', 'team');
  return (await run('key', 'create', '--account', id)).key;
}

/** Sends a request to a node that runs. Throws when the node dies meanwhile. */
export async function request({ nodes, key }: Stand, method: string, path: string, body?: object): Promise<any> {
  const [node] = nodes.all().filter(({ isStopping }) => !isStopping).slice(-1);
  const response = await fetch(node!.url + path, { method, headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Workspaces of one member: an own subscriber each, with one or two watches that match the same signals. */
export async function createDesks(stand: Stand): Promise<Desk[]> {
  const desks: Desk[] = [];
  for (const [delivery, place, ...others] of [['immediate', PLACES[0]!, 'housing_affordability'], ['immediate', PLACES[1]!], ['digest', PLACES[0]!]] as const) {
    const { id } = await request(stand, 'POST', '/api/workspaces', { name: `Desk ${desks.length}` });
    const watch = (target: object) => request(stand, 'POST', `/api/workspaces/${id}/watches`, { target, delivery });
    await watch({ type: 'place', id: place });
    for (const issue of others) await watch({ type: 'query', query: { places: [place], issues: [issue] } });
    desks.push({ id, delivery, place });
  }
  return desks;
}

/** Lets the job that queues mails run now, also when a node holds its lease: dead nodes do, and a live one must notice. */
export async function mailsDue(stand: Stand): Promise<void> {
  await beside(stand, (db) => db.write(async (tx) => {
    const past = new Date(Date.now() - 60_000).toISOString();
    await tx('core_job_schedules').where({ name: 'workspaces.watch_mails' }).update({ next_at: past });
    await tx('core_jobs').where({ name: 'workspaces.watch_mails', state: 'running' }).update({ lease_until: past });
  }));
}

/** Reads or changes the database beside the servers. */
export async function beside<T>({ url, instance }: Stand, fn: (db: OpenDatabase) => Promise<T>): Promise<T> {
  return look(url, join(instance.folder, 'data'), fn);
}

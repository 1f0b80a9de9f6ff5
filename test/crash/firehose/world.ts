import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { compose, type Composition } from '../../../core/compose.ts';
import { prepare } from '../../../core/prepare.ts';
import type { TestServer } from '../../../core/testing.ts';
import { emptyDatabase, type TestDatabase, type TestDialect } from '../../../core/testing/database.ts';
import { runCommand } from '../../../plugins/accounts/test/kit.ts';
import { createInstance, testPlugins, type Instance } from '../../support/civic.ts';
import { readyDatabase } from '../../support/template.ts';
import { look } from '../facts.ts';
import type { OpenDatabase } from '../../../core/database/connect.ts';
import type { Asker } from './askers.ts';

/** An instance with everybody who reads in it, whose servers are started by whoever asks for it. */
export interface World {
  instance: Instance;
  askers: Asker[];
  asker(name: string): Asker;
  /** Some that nothing else depends on. */
  guests: Asker[];
  /** Of the workspaces that signals are written for. */
  workspaces: string[];
  /** Runs a command of the kit beside the servers, and answers what it prints. */
  command(...words: string[]): Promise<any>;
  look<T>(fn: (db: OpenDatabase) => Promise<T>): Promise<T>;
  remove(): void;
}

export interface WorldOptions {
  /** Of a Postgres database without accounts; null is SQLite. */
  url: string | null;
  /** The copy of the kit whose servers run. */
  root?: string;
  firehose?: object;
}

const PLANS = { free: {}, team: { streams: 100_000, sessions: 100_000, keys: 100, requests_per_minute: 1_000_000, requests_per_day: 100_000_000 } };

function pluginsOf(firehose: object): object {
  return {
    accounts: { plans: PLANS, default_plan: 'free' },
    firehose: { anonymous: true, anonymous_streams: 100_000, ...firehose },
    wire: { from: join(testPlugins, 'wire') },
    herons: { from: join(testPlugins, 'herons') },
  };
}

/** A database for `createWorld`, which copies a migrated one into the folder of the instance on SQLite. */
export async function worldDatabase(dialect: TestDialect): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  return dialect === 'sqlite' ? emptyDatabase(dialect) : readyDatabase(dialect, pluginsOf({}), tmpdir());
}

export async function createWorld({ url, root, firehose = {} }: WorldOptions): Promise<World> {
  const instance = createInstance('', { root });
  const dataDir = join(instance.folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const settings = (partners: string[]) => JSON.stringify({
    data_dir: dataDir,
    database: { url },
    log: { level: 'warn', access: 'warn', format: 'json' },
    plugins: pluginsOf({ partners, ...firehose }),
  }, null, 2);
  if (url === null) await readyDatabase('sqlite', pluginsOf(firehose), dataDir);
  const everybody = await people(settings([]));
  const guests = everybody.filter(({ name }) => name === 'guest');
  const askers = everybody.filter((one) => !guests.includes(one));
  writeFileSync(instance.configFile, settings([askers.find(({ name }) => name === 'partner')!.workspaceId!]));
  return {
    instance,
    askers,
    guests,
    asker: (name) => askers.find((one) => one.name === name)!,
    workspaces: ['owner', 'other'].map((name) => askers.find((one) => one.name === name)!.workspaceId!),
    async command(...words) {
      const { code, stdout, stderr } = await instance.civicInProcess(...words, '--json');
      if (code !== 0) throw new Error(`civic ${words.join(' ')}: ${stderr}`);
      return JSON.parse(stdout);
    },
    look: (fn) => look(url, dataDir, fn),
    remove: instance.remove,
  };
}

/** Makes everybody in one process, as a command for each would take long. */
async function people(settings: string): Promise<Asker[]> {
  const prepared = await prepare({ env: {}, args: {}, text: settings });
  if (prepared.errors.length > 0) throw new Error(JSON.stringify(prepared.errors));
  const kit = await compose({ config: prepared.config, plugins: prepared.plugins, log: pino({ level: 'silent' }) });
  try {
    await kit.open({ writes: true, schema: 'migrate' });
    return await peopleIn(kit);
  } finally {
    await kit.stop();
  }
}

async function peopleIn(kit: Composition): Promise<Asker[]> {
  const run = (name: string, options: object): Promise<any> => runCommand({ composition: kit } as TestServer, name, options as never, []);
  const make = async (name: string, visibilities: Asker['visibilities'], role = 'user'): Promise<Asker> => {
    const { id } = await run('account create', { name, plan: 'team', role });
    const key = await run('key create', { account: id });
    return { name, key: key.key, keyId: key.id, accountId: id, workspaceId: key.workspace_id, reviewsThere: true, visibilities };
  };
  const own: Asker['visibilities'] = ['public', 'workspace', 'workspace'];
  const owner = await make('owner', own);
  const member = await make('member', own);
  const shared = await kit.server.inject({ method: 'POST', url: '/api/workspaces', headers: { 'x-api-key': owner.key! }, payload: { name: 'Ours' } });
  const workspace = (shared.result as { id: string }).id;
  const invited = await kit.server.inject({ method: 'POST', url: `/api/workspaces/${workspace}/members`, headers: { 'x-api-key': owner.key! }, payload: { account_id: member.accountId, role: 'member' } });
  await kit.server.inject({ method: 'POST', url: `/api/invitations/${(invited.result as { invitation_id: string }).invitation_id}/accept`, headers: { 'x-api-key': member.key! } });
  for (const one of [owner, member]) {
    one.key = (await run('key create', { account: one.accountId, workspace })).key;
    one.workspaceId = workspace;
  }
  member.reviewsThere = false;
  return [
    await make('guest', own), await make('guest', own), await make('guest', own),
    owner, member,
    await make('other', own),
    await make('partner', [...own, 'partner', 'partner']),
    await make('reviewer', [...own, 'reviewer', 'reviewer'], 'reviewer'),
    { name: 'nobody', key: null, keyId: null, accountId: null, workspaceId: null, reviewsThere: false, visibilities: ['public'] },
  ];
}

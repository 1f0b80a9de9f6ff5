import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPlugins } from '../../core/defaults.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { run } from '../../plugins/directory/test/command.ts';
import { unescaped } from '../support/walk.ts';

export const notQuick = 'it loads the demo and runs every example of /docs';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const missing = ['sh', 'curl', 'jq'].filter((program) => spawnSync(program, ['--version']).error !== undefined);

const ADA = 'ada@river.example';

/** An operation on a page of /docs, with the text that a reader sees. */
interface Documented {
  id: string;
  group: string;
  method: string;
  /** Commands that run as printed. */
  scripts: string[];
  /** Why an example cannot run as printed. */
  reasons: string[];
}

interface Ran {
  id: string;
  script: string;
  /** The status of every request of the script. */
  statuses: number[];
  output: string;
}

describe('The examples of /docs', { timeout: 300_000, skip: missing.length > 0 }, () => {
  let kit: TestServer;
  let folder: string;
  let env: Record<string, string>;
  let operations: Documented[];

  before(async () => {
    const port = await freePort();
    // Nobody runs all examples within a minute.
    const ratelimit = { anonymous: { reads_per_minute: 1000, requests_per_hour: 1000 } };
    kit = await testServer({ plugins: defaultPlugins(), config: { http: { port }, public_url: `http://localhost:${port}`, plugins: { ratelimit } }, listen: true, callers: false });
    await run(kit, 'demo load');
    folder = mkdtempSync(join(tmpdir(), 'civic-examples-'));
    // Read by every curl: the commands themselves stay as they are printed.
    writeFileSync(join(folder, '.curlrc'), 'silent\nwrite-out = "%{stderr}status=%{http_code}\\n"\n');
    env = { PATH: process.env.PATH!, CURL_HOME: folder, ...await prerequisites(kit) };
    operations = await documented(kit);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await kit?.close();
  });

  it('cover every operation of OpenAPI, or state why an example cannot run', async () => {
    const { paths } = kit.composition.openApi();
    const ids = Object.values(paths).flatMap(({ get, post, put, patch, delete: remove }) => [get, post, put, patch, remove].flatMap((operation) => operation?.operationId ?? []));
    expect(operations.map(({ id }) => id).toSorted()).to.equal(ids.toSorted());
    expect(operations.filter(({ scripts, reasons }) => scripts.length === 0 && reasons.length === 0).map(({ id }) => id)).to.equal([]);
    expect(operations.filter(({ reasons }) => reasons.length > 0).map(({ id }) => id).toSorted()).to.equal([
      'deleteDiscoveryRunsIdCandidatesCidDecision', 'getDiscoveryRunsIdCandidatesCid', 'getOauthAuthorize', 'getWorkspacesIdFeedAtom',
      'patchDiscoveryRunsIdCandidatesCid', 'postDiscoveryRunsIdCancel', 'postDiscoveryRunsIdCandidatesCidDecision', 'postMcp', 'postOauthToken',
    ]);
  });

  it('name the directory first', () => {
    expect(operations[0]!.group).to.equal('directory');
    expect(operations.at(-1)!.group).to.equal('core');
  });

  it('succeed as they are printed, in the order of the pages', async () => {
    expect(await failures(operations, env)).to.equal([]);
  });

  it('in a workspace succeed also with a key of another workspace', async () => {
    const inWorkspaces = operations.map((operation) => ({ ...operation, scripts: operation.scripts.filter((script) => script.includes('/api/workspaces') && script.includes('/api/entities')) }));
    expect(await failures(inWorkspaces, { ...env, CIVIC_KEY: await keyOfShared(kit, env.CIVIC_WORKSPACE!) })).to.equal([]);
  });

  it('change only what they have created or the reader names, so that each works alone and in any order', () => {
    const writes = operations.filter(({ method }) => method !== 'GET').flatMap(({ id, scripts }) => scripts.map((script) => ({ id, script })));
    expect(writes.length).to.be.at.least(20);
    const named = (text: string): string[] => [...text.matchAll(/\$\{?([A-Za-z_]+)/g)].map(([, name]) => name!);
    const known = new Set(Object.keys(env));
    expect(writes.filter(({ script }) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(script)).map(({ id }) => id)).to.equal([]);
    expect(writes.filter(({ script }) => named(script).some((name) => !known.has(name) && !script.includes(`${name}=$(`))).map(({ id }) => id)).to.equal([]);
  });
});

/** Runs scripts one after the other, streams beside them, and returns those of which a request did not succeed. */
async function failures(operations: Documented[], env: Record<string, string>): Promise<string[]> {
  const ran: Promise<Ran>[] = [];
  for (const { id, scripts } of operations) {
    for (const script of scripts) {
      const one = runScript(id, script, env);
      ran.push(one);
      if (!script.includes('--max-time')) await one;
    }
  }
  expect(ran.length).to.be.at.least(10);
  const succeeded = ({ script, statuses }: Ran): boolean => statuses.length === (script.match(/\bcurl /g) ?? []).length && statuses.every((status) => (status >= 200 && status < 300) || (status === 101 && script.includes('websocket')));
  return (await Promise.all(ran)).filter((one) => !succeeded(one)).map(({ id, script, statuses, output }) => `${id}: ${statuses.join(', ')}\n${script}\n${output.slice(0, 600)}`);
}

function runScript(id: string, script: string, env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', script], { env, encoding: 'latin1', maxBuffer: 64 * 1024 * 1024 }, (_error, output, errors) => {
      resolve({ id, script, output, statuses: [...errors.matchAll(/^status=(\d+)$/gm)].map(([, status]) => Number(status)) });
    });
  });
}

/** Reads the examples from the pages, in their order. */
async function documented(kit: TestServer): Promise<Documented[]> {
  const page = async (path: string): Promise<string> => (await kit.request('GET', path, { headers: { accept: 'text/html' } })).text;
  const groups = [...(await page('/docs')).matchAll(/id="group-(\w+)"/g)].map(([, name]) => name!);
  const found = await Promise.all(groups.map(async (group) => [...(await page(`/docs/${group}`)).matchAll(/<details class="card operation"[^]*?<span class="method \w+">(\w+)<\/span>[^]*?<div class="inside" id="(\w+)">([^]*?)(?=<details class="card|<\/section>)/g)].map(([, method, id, text]): Documented => ({
    id: id!, group, method: method!,
    scripts: [...text!.matchAll(/<div class="example" data-runs>[^]*?<code>([^]*?)<\/code>/g)].map(([, script]) => unescaped(script!)),
    reasons: [...text!.matchAll(/<strong>Not runnable as it is\.<\/strong> <span lang="en">([^<]+)</g)].map(([, reason]) => reason!),
  }))));
  return found.flat();
}

/** Also those that a key has only on request. */
function scopesOf(kit: TestServer): string[] {
  return [...new Set(kit.composition.plugins.flatMap(({ scopes = {} }) => Object.keys(scopes)))];
}

/** Returns a key of Ada that works in a shared workspace. */
async function keyOfShared(kit: TestServer, workspace: string): Promise<string> {
  return (await run(kit, 'key create', { account: ADA, scopes: scopesOf(kit), workspace })).key as string;
}

/** Creates what the examples name as needed: a key with all scopes, invitations to its account, and a workspace with another member. */
async function prerequisites(kit: TestServer): Promise<Record<string, string>> {
  const keyOf = async (email: string): Promise<string> => {
    await run(kit, 'account create', { email, role: 'admin' });
    return (await run(kit, 'key create', { account: email, scopes: scopesOf(kit) })).key as string;
  };
  const ada = { email: ADA, key: await keyOf(ADA) };
  const ben = { email: 'ben@river.example', key: await keyOf('ben@river.example') };
  const call = async ({ key }: { key: string }, path: string, payload: object): Promise<any> => {
    const { status, body, text } = await kit.request('POST', path, { payload, headers: { 'x-api-key': key } });
    if (status >= 300) throw new Error(`${path}: ${text}`);
    return body;
  };
  const workspace = async (owner: { key: string }): Promise<string> => (await call(owner, '/api/workspaces', { name: 'Shared desk' })).id as string;
  for (const id of [await workspace(ben), await workspace(ben)]) await call(ben, `/api/workspaces/${id}/members`, { email: ada.email });
  const link = await call(ben, `/api/workspaces/${await workspace(ben)}/invitations`, { role: 'member' });
  const shared = await workspace(ada);
  const invited = await call(ada, `/api/workspaces/${shared}/members`, { email: ben.email });
  await call(ben, `/api/invitations/${invited.invitation_id}/accept`, {});
  const { body: members } = await kit.request('GET', `/api/workspaces/${shared}/members`, { headers: { 'x-api-key': ada.key } });
  return {
    CIVIC_KEY: ada.key,
    CIVIC_INVITATION: new URL(link.url as string).searchParams.get('token')!,
    CIVIC_WORKSPACE: shared,
    CIVIC_MEMBER: members.data.find(({ role }: { role: string }) => role !== 'owner').account_id as string,
  };
}

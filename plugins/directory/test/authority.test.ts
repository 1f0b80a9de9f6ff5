import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type CommandCall, type Terminal } from 'civic';
import { testDatabases, testServer, type TestResponse, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { actorPayload } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Person {
  id: string;
  key: string;
  workspace_id: string;
}

for (const database of testDatabases()) {
  describe(`Authority over private records and imports on ${database}`, { timeout: 120_000 }, () => {
    let kit: TestServer;
    let release = () => undefined as void;
    /** The only worker runs this job until it is released: imports wait behind it. */
    const holder = definePlugin({
      name: 'holder',
      summary: 'Holds the worker',
      paths: { '/hold': { audience: 'programs' } },
      register(server, civic) {
        civic.jobs.define({ name: 'holder.hold', run: () => new Promise<void>((resolve) => { release = resolve; }) });
        server.route({ method: 'POST', path: '/hold', handler: async () => ({ id: await civic.db.write((tx) => civic.jobs.enqueue(tx, 'holder.hold', {})) }) });
      },
    });
    before(async () => {
      kit = await testServer({ database, plugins: ['accounts', 'directory', holder], config: { jobs: { concurrency: 1, poll_seconds: 0.1 } } });
      // The first account is always an administrator.
      await person('admin');
    });
    after(async () => {
      release();
      await kit.close();
    });

    async function run(name: string, options: CommandCall['options'], positionals: string[] = []): Promise<any> {
      let printed: unknown;
      const terminal: Terminal = {
        json: true, signal: new AbortController().signal, out: () => undefined, err: () => undefined, progress: () => undefined,
        print: (value) => { printed = value; }, style: (_style, text) => text,
      };
      await kit.composition.commands.find((one) => one.name === name)!.run({ terminal, positionals, options, cwd: process.cwd() });
      return printed;
    }
    const keyOf = async (id: string, scopes?: string) => (await run('key create', { account: id, ...(scopes && { scopes: [scopes] }) })).key as string;
    async function person(role = 'user'): Promise<Person> {
      const { id } = await run('account create', { name: `A ${role}`, plan: 'team', role });
      const { key, workspace_id } = await run('key create', { account: id });
      return { id, key, workspace_id };
    }
    const get = (path: string, key: string, headers = {}) => kit.request('GET', path, { headers: { 'x-api-key': key, ...headers } });
    const line = (id: string, name: string) => JSON.stringify({ id, type: 'organization', sources: [{ id: 'a', url: 'https://example.org/lines' }], claims: [{ property: 'name', value: name, source_id: 'a' }] });
    async function send(key: string, text: string, visibility = 'workspace', headers = {}): Promise<string> {
      const answer = await kit.request('POST', `/api/imports?format=ndjson&visibility=${visibility}`, { payload: text, headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson', ...headers } });
      expect(answer.status, answer.text).to.equal(202);
      return answer.body.id;
    }
    async function ended(id: string): Promise<{ state: string; error_code: string | null; error: string | null }> {
      for (let tries = 0; tries < 600; tries++) {
        const row = await kit.db.read('directory_imports').where({ id }).first('state', 'error_code', 'error');
        if (['completed', 'failed'].includes(row.state)) return row;
        await sleep(50);
      }
      throw new Error('The import did not end');
    }
    async function workspaceOf(owner: Person, ...members: Person[]): Promise<string> {
      const { body: { id } } = await kit.request('POST', '/api/workspaces', { payload: { name: 'Ours' }, headers: { 'x-api-key': owner.key } });
      for (const member of members) {
        const invited = await kit.request('POST', `/api/workspaces/${id}/members`, { payload: { account_id: member.id, role: 'member' }, headers: { 'x-api-key': owner.key } });
        const accepted = await kit.request('POST', `/api/invitations/${invited.body.invitation_id}/accept`, { headers: { 'x-api-key': member.key } });
        expect(accepted.status, accepted.text).to.equal(200);
      }
      return id;
    }
    const summary = ({ status, body }: TestResponse) => [status, body.code];

    it('a key reads private records only with a scope of the directory', async () => {
      const owner = await person();
      const { body: actor } = await kit.request('POST', '/api/entities', { payload: actorPayload({ name: 'Hidden Society', visibility: 'workspace', place: 'kansas-city,missouri' }), headers: { 'x-api-key': owner.key } });
      const { body: open } = await kit.request('POST', '/api/entities', { payload: actorPayload({ name: 'Open Society' }), headers: { 'x-api-key': (await person('reviewer')).key } });
      const [{ id: source }] = actor.sources;
      const single = [`/api/entities/${actor.id}`, `/api/entities/by-slug/${actor.slug}`, `/api/sources/${source}`, ...['claims', 'sources', 'history', 'related', 'duplicates'].map((part) => `/api/entities/${actor.id}/${part}`)];
      const lists = ['/api/entities?visibility=workspace', '/api/places/kansas-city,missouri/entities?visibility=workspace', '/api/exports/entities?visibility=workspace'];
      for (const scope of ['workspace:write', 'workspace:read']) {
        const key = await keyOf(owner.id, scope);
        for (const path of single) expect((await get(path, key)).status, `${scope} ${path}`).to.equal(404);
        for (const path of lists) {
          const answer = await get(path, key);
          expect(summary(answer), `${scope} ${path}`).to.equal([403, 'insufficient_scope']);
          expect(answer.headers['www-authenticate']).to.include('scope="directory:read"');
        }
        expect((await get(`/api/entities/${open.id}`, key)).status).to.equal(200);
        expect((await get('/api/entities', key)).status).to.equal(200);
      }
      for (const scope of ['directory:read', 'entities:write']) {
        const key = await keyOf(owner.id, scope);
        for (const path of [...single, ...lists]) {
          const { status, text } = await get(path, key);
          expect(status, `${scope} ${path}`).to.equal(200);
          if (lists.includes(path)) expect(text).to.include('Hidden Society');
        }
      }
    });

    it('only members of its workspace read an import and its rejected rows', async () => {
      const [owner, member, stranger, admin] = [await person(), await person(), await person(), await person('admin')];
      const workspace = await workspaceOf(owner, member);
      const inIt = { 'x-workspace-id': workspace };
      const id = await send(member.key, `${line('0e0e0d0c-0000-4000-8000-000000000001', 'Fine')}\n{"type":"secret row"}`, 'workspace', inIt);
      expect((await ended(id)).state).to.equal('completed');
      const paths = [`/api/imports/${id}`, `/api/imports/${id}/rejects`];
      for (const path of paths) {
        expect((await get(path, owner.key, inIt)).status).to.equal(200);
        expect((await get(path, member.key)).status).to.equal(200);
        for (const { key } of [stranger, admin]) expect(summary(await get(path, key))).to.equal([404, 'unknown_import']);
      }
      expect((await get(paths[1]!, owner.key, inIt)).text).to.include('secret row');
      const removed = await kit.request('DELETE', `/api/workspaces/${workspace}/members/${member.id}`, { headers: { 'x-api-key': owner.key } });
      expect(removed.status, removed.text).to.equal(204);
      for (const path of paths) expect(summary(await get(path, member.key))).to.equal([404, 'unknown_import']);
    });

    it('a queued import ends as failed when its account lost the role, the membership or access', async () => {
      const [demoted, disabled, removed, owner, unchanged] = [await person('reviewer'), await person('reviewer'), await person(), await person(), await person('reviewer')];
      const workspace = await workspaceOf(owner, removed);
      const { payload } = await kit.server.inject({ method: 'POST', url: '/hold' });
      expect(payload).to.include('id');
      const ids = [1, 2, 3, 4].map((number) => `0e0e0d0c-0000-4000-8000-00000000001${number}`);
      const imports = [
        await send(demoted.key, line(ids[0]!, 'Demoted'), 'public'),
        await send(disabled.key, line(ids[1]!, 'Disabled'), 'public'),
        await send(removed.key, line(ids[2]!, 'Removed'), 'workspace', { 'x-workspace-id': workspace }),
        await send(unchanged.key, line(ids[3]!, 'Unchanged'), 'public'),
      ];
      await run('account set-role', { account: demoted.id, role: 'user' });
      await run('account disable', { account: disabled.id });
      await kit.request('DELETE', `/api/workspaces/${workspace}/members/${removed.id}`, { headers: { 'x-api-key': owner.key } });
      release();
      const rows = await Promise.all(imports.map(ended));
      expect(rows.map(({ state, error_code }) => [state, error_code])).to.equal([['failed', 'authority_lost'], ['failed', 'authority_lost'], ['failed', 'authority_lost'], ['completed', null]]);
      expect(rows[0]!.error).to.equal('The account that sent the file is no longer a reviewer. The first 0 rows of the file are imported.');
      const stored = await kit.db.read('directory_records').whereIn('id', ids).select('id');
      expect(stored.map(({ id }) => id)).to.equal([ids[3]]);
      expect((await get(`/api/imports/${imports[0]!}`, demoted.key)).body.error.code).to.equal('authority_lost');
    });
  });
}

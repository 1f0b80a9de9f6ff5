import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { until } from '../../core/test/wait.ts';
import { testDatabases } from '../../core/testing.ts';
import { BASE, bearer, connect, oauthKit, type OauthKit, type Person, type Reply } from '../../plugins/oauth/test/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SCOPES = { '/api': ['workspace:read', 'workspace:write', 'directory:read', 'entities:write', 'firehose:read'], '/mcp': ['directory:read', 'firehose:read'] };
const NAMES = ['Own', 'Newsroom', 'Archive'] as const;

/** One workspace of the user, with something private of each kind in it. */
interface Workspace {
  id: string;
  key: string;
  actor: string;
  session: string;
  imported: string;
}

for (const database of testDatabases()) {
  describe(`The token of an app that a user with three workspaces connected to one (${database})`, { timeout: 60_000 }, () => {
    let kit: OauthKit;
    let ada: Person;
    let workspaces: Record<(typeof NAMES)[number], Workspace>;
    let api: string;
    let mcp: string;

    before(async () => {
      kit = await oauthKit({ database, plugins: ['directory', 'firehose', 'mcp'] });
      ada = await kit.person();
      const made: [string, Workspace][] = [];
      for (const name of NAMES) made.push([name, await furnish(name)]);
      workspaces = Object.fromEntries(made) as typeof workspaces;
      const client = await kit.register();
      const tokenFor = async (resource: keyof typeof SCOPES): Promise<string> => {
        const scopes = SCOPES[resource];
        return (await connect(kit, ada, client, { more: { resource: BASE + resource, scope: scopes.join(' ') }, scopes, workspace: workspaces.Newsroom.id })).tokens.access_token;
      };
      [api, mcp] = [await tokenFor('/api'), await tokenFor('/mcp')];
    });
    after(() => kit.close());

    const created = async (key: string, path: string, json: unknown): Promise<any> => {
      const { status, body } = await kit.send('POST', path, { headers: { 'x-api-key': key }, json });
      expect(status, `${path}: ${JSON.stringify(body)}`).to.be.within(200, 202);
      return body;
    };

    const addActor = async (key: string, name: string): Promise<string> => (await created(key, '/api/entities', {
      type: 'organization', visibility: 'workspace', sources: [{ local_id: 's', url: 'https://example.org/about' }], claims: [{ property: 'name', value: name, source_local_id: 's' }],
    })).id;

    async function furnish(name: (typeof NAMES)[number]): Promise<Workspace> {
      const id = name === 'Own' ? ada.workspace_id : (await created(ada.key, '/api/workspaces', { name })).id;
      const { key } = await kit.run('key create', { account: ada.id, workspace: id });
      const imported = (await created(key, '/api/imports?format=ndjson', { nothing: name })).id;
      return { id, key, actor: await addActor(key, `${name} notes`), session: (await created(key, '/api/firehose/sessions', {})).id, imported };
    }

    const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> => kit.send('GET', path, bearer(api, headers));
    /** The status of a thing of each workspace. */
    const statuses = async (path: (workspace: Workspace) => string): Promise<number[]> => Promise.all(NAMES.map(async (name) => (await get(path(workspaces[name]))).status));

    it('sees that one on the API', async () => {
      expect((await get('/api/workspaces')).body.data.map((one: { name: string }) => one.name)).to.equal(['Newsroom']);
      expect((await get('/api/entities?visibility=workspace')).body.data.map((one: { name: string }) => one.name)).to.equal(['Newsroom notes']);
      expect((await get('/api/exports/entities?visibility=workspace')).text).to.include('Newsroom notes').and.to.not.include('Archive').and.to.not.include('Own');
      for (const path of [
        ({ id }: Workspace) => `/api/workspaces/${id}`, ({ id }: Workspace) => `/api/workspaces/${id}/members`, ({ id }: Workspace) => `/api/workspaces/${id}/audit`,
        ({ actor }: Workspace) => `/api/entities/${actor}`, ({ imported }: Workspace) => `/api/imports/${imported}`,
      ]) expect(await statuses(path), String(path)).to.equal([404, 200, 404]);
      for (const name of NAMES) expect((await get('/api/entities', { 'x-workspace-id': workspaces[name].id })).status, name).to.equal(name === 'Newsroom' ? 200 : 403);
    });

    it('neither sees nor changes to which other workspaces the account belongs', async () => {
      const owner = await kit.person();
      const foreign = await created(owner.key, '/api/workspaces', { name: 'Foreign' });
      const { invitation_id } = await created(owner.key, `/api/workspaces/${foreign.id}/members`, { account_id: ada.id, role: 'member' });
      const link = new URL((await created(owner.key, `/api/workspaces/${foreign.id}/invitations`, {})).url).searchParams.get('token');
      const listed = await get('/api/invitations');
      expect([listed.status, listed.body.code]).to.equal([403, 'workspace_forbidden']);
      for (const [path, json] of [[`/api/invitations/${invitation_id}/accept`], [`/api/invitations/${invitation_id}/decline`], ['/api/workspaces/join', { token: link }], ['/api/workspaces', { name: 'Another' }]] as const) {
        const { status, body } = await kit.send('POST', path, { ...bearer(api), json });
        expect([status, body.code], path).to.equal([403, 'workspace_forbidden']);
      }
      expect((await kit.send('GET', '/api/workspaces', { headers: { 'x-api-key': ada.key } })).body.data.map((one: { name: string }) => one.name)).to.have.length(3).and.to.include(['Newsroom', 'Archive']);
      expect((await kit.send('GET', '/api/invitations', { headers: { 'x-api-key': ada.key } })).body.data).to.have.length(1);
    });

    it('sees that one on the Firehose, also in streams and sessions', async () => {
      const titles = async (): Promise<string> => JSON.stringify((await get('/api/firehose')).body.signals);
      await until(async () => (await titles()).includes('Newsroom notes'));
      expect(await titles()).to.not.include('Archive notes').and.to.not.include('Own notes');
      expect((await get('/api/firehose/sessions')).body.data.map((one: { id: string }) => one.id)).to.equal([workspaces.Newsroom.session]);
      expect(await statuses(({ session }) => `/api/firehose/sessions/${session}/snapshot`)).to.equal([404, 200, 404]);
      expect((await kit.send('POST', `/api/firehose/sessions/${workspaces.Archive.session}/tickets`, { ...bearer(api), json: {} })).status).to.equal(404);
      const stream = await fetch(`${kit.url}/api/firehose`, { headers: { accept: 'text/event-stream', ...bearer(api).headers } });
      for (const name of ['Own', 'Archive', 'Newsroom'] as const) await addActor(workspaces[name].key, `${name} news`);
      let text = '';
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes('Newsroom news')) break;
      }
      expect(text).to.not.include('Archive news').and.to.not.include('Own news');
    });

    it('sees that one on /mcp', async () => {
      const rpc = (method: string, params: object, headers: Record<string, string> = {}) => kit.send('POST', '/mcp', { headers: { accept: 'application/json, text/event-stream', ...bearer(mcp, headers).headers }, json: { jsonrpc: '2.0', id: 1, method, params } });
      const call = async (name: string, given: object) => (await rpc('tools/call', { name, arguments: given })).body.result;
      expect((await call('search_entities', { query: 'notes', visibility: 'workspace' })).structuredContent.data.map((one: { name: string }) => one.name)).to.equal(['Newsroom notes']);
      const signals = JSON.stringify((await call('search_signals', { limit: 100 })).structuredContent);
      expect(signals).to.include('Newsroom notes').and.to.not.include('Archive').and.to.not.include('Own');
      for (const name of NAMES) {
        const isOwn = name === 'Newsroom';
        for (const tool of ['get_entity', 'get_entity_sources', 'get_related_entities', 'fetch']) {
          const { isError = false, content } = await call(tool, { id: workspaces[name].actor });
          expect(isError, `${tool} ${name}: ${content[0].text}`).to.equal(!isOwn);
        }
        expect('result' in (await rpc('resources/read', { uri: `civic://entities/${workspaces[name].actor}` })).body, name).to.equal(isOwn);
        expect((await rpc('tools/list', {}, { 'x-workspace-id': workspaces[name].id })).status, name).to.equal(isOwn ? 200 : 403);
      }
    });
  });
}

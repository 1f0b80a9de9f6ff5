import { newId } from '../../core/ids.ts';
import { definePlugin, type Civic } from '../../core/plugin.ts';
import { stoppedClock, testServer, type TestResponse, type TestServer } from '../../core/testing.ts';
import { joinWorkspace, runCommand } from '../../plugins/accounts/test/kit.ts';
import { WHO, type Case, type Who } from './table.ts';

/** What the services of the kit create, where no request does. */
let whole: Civic;
const unrelated = definePlugin({ name: 'unrelated', summary: 'Declares a scope that no route asks for', needs: ['discovery'], scopes: { 'unrelated:read': { label: 'Nothing' } }, register: (_server, civic) => ({ async start() { whole = civic; } }) });

/** The records of a workspace: the last part of their path, and the body that creates one. */
const RECORDS: Record<string, [string, object]> = {
  list: ['lists', { name: 'A list' }],
  note: ['notes', { text: 'A note' }],
  coverage_target: ['coverage-targets', { place: 'kansas-city,missouri', issue_areas: ['housing_affordability'] }],
  review: ['reviews', { target: { type: 'entity', id: '$actor' } }],
  brief: ['briefs', { title: 'A brief' }],
  watch: ['watches', { target: { type: 'place', id: 'gladstone,missouri' } }],
};

/** The whole kit with somebody of each kind, and things of theirs to ask for. */
export interface Stand {
  kit: TestServer;
  ask(who: Who, method: string, path: string, asked: Case): Promise<TestResponse>;
}

export async function createStand(plugins: string[]): Promise<Stand> {
  const clock = stoppedClock('2026-03-01T12:00:00.000Z');
  const kit = await testServer({ plugins: [...plugins, unrelated], clock, config: { metrics: { enabled: true } } });
  const run = (name: string, options: object, positionals: string[] = []) => runCommand(kit, name, options as never, positionals);
  const send = async (key: string, method: string, path: string, payload?: unknown) => {
    const answer = await kit.request(method, path, { payload, headers: { 'x-api-key': key } });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const account = async (name: string, role = 'user') => (await run('account create', { name, role, plan: 'team' })).id as string;

  const ownerId = await account('owner');
  const owner = (await run('key create', { account: ownerId })).key as string;
  const workspace = (await send(owner, 'POST', '/api/workspaces', { name: 'Ours' })).id as string;
  /** Invites an account and accepts with a key that is good for nothing else. */
  const join = async (id: string, role: string) => {
    const made = await run('key create', { account: id });
    await joinWorkspace(kit, { owner, member: made.key, member_id: id, path: `/api/workspaces/${workspace}`, role });
    await run('key revoke', {}, [made.id]);
  };

  const keys = {} as Record<Who, string | null>;
  for (const who of WHO) {
    if (who === 'nobody') {
      keys[who] = null;
      continue;
    }
    const isStaff = who === 'reviewer' || who === 'admin';
    const id = await account(who, isStaff ? who : 'user');
    if (who !== 'other_workspace') await join(id, isStaff ? who : 'member');
    const made = await run('key create', {
      account: id,
      ...(who !== 'other_workspace' && { workspace }),
      ...(who === 'wrong_scope' && { scopes: ['unrelated:read'] }),
      // Also those that a key has on request only.
      ...(isStaff && { scopes: kit.composition.plugins.flatMap(({ scopes = {} }) => Object.keys(scopes)) }),
      ...(who === 'expired_key' && { expires: '2026-03-01T13:00:00Z' }),
    });
    keys[who] = made.key;
    if (who === 'free_plan') await run('account set-plan', { account: id, plan: 'free' });
    if (who === 'revoked_key') await run('key revoke', {}, [made.id]);
  }
  clock.advance(3_600_000);

  const actor = async (visibility: 'public' | 'workspace') => (await send(visibility === 'public' ? keys.admin! : keys.member!, 'POST', '/api/entities', {
    type: 'organization', visibility, sources: [{ local_id: 's', url: `https://example.org/${newId()}` }], claims: [{ property: 'name', value: `Actor ${newId()}`, source_local_id: 's' }],
  })).id as string;
  const other = await actor('public');
  /** Creates a record in the workspace, or in that of another account. */
  const record = async (name: string, payload: object, key = keys.admin!, id = workspace) => (await send(key, 'POST', `/api/workspaces/${id}/${name}`, JSON.parse(JSON.stringify(payload).replace('$actor', await actor('public'))))).id as string;
  const foreignWorkspace = (await send(keys.other_workspace!, 'GET', '/api/workspaces')).data[0].id as string;
  const foreign: Record<string, string> = {};
  for (const [noun, [name, payload]] of Object.entries(RECORDS)) foreign[`$foreign_${noun}`] = await record(name, payload, keys.other_workspace!, foreignWorkspace);
  const shared = { $workspace: workspace, $other: other, $other_account: await account('somebody'), ...foreign };
  const makers: Record<string, () => Promise<string>> = {
    $public: () => actor('public'),
    $private: () => actor('workspace'),
    ...Object.fromEntries(Object.entries(RECORDS).map(([noun, [name, payload]]) => [`$${noun}`, () => record(name, payload)])),
    $session: async () => (await send(keys.member!, 'POST', '/api/firehose/sessions', {})).id as string,
    $calendar: async () => (await send(keys.member!, 'POST', '/api/watched-sources', { url: `https://city.example/${newId()}`, test: false })).id as string,
    $town_calendar: async () => (await send(keys.admin!, 'POST', '/api/watched-sources', { url: `https://city.example/${newId()}`, test: false, visibility: 'public' })).id as string,
    async $run() {
      const source = { local_id: 's', url: `https://city.example/${newId()}` };
      const claims = [{ property: 'name' as const, value: `Candidate ${newId()}`, source_local_id: 's' }];
      await whole.db.write((tx) => whole.service('discovery').propose(tx, { type: 'watched_source', id: newId(), workspace_id: workspace, account_id: ownerId, location: 'A calendar', place_key: null, issue_areas: [] }, [{ type: 'organization', score: 0.9, sources: [source], claims }]));
      return (await send(keys.admin!, 'GET', '/api/discovery-runs?scope=workspace&limit=1')).data[0].id as string;
    },
    $candidate: async () => (await send(keys.admin!, 'GET', `/api/discovery-runs/${await thing('$run')}/candidates`)).data[0].id as string,
    async $guest() {
      const id = await account('guest');
      await join(id, 'member');
      return id;
    },
  };

  /** Things that no request has changed yet. */
  const unchanged = new Map<string, string>();
  const thing = async (name: string): Promise<string> => {
    const id = unchanged.get(name) ?? await makers[name]!();
    unchanged.set(name, id);
    return id;
  };

  /** Replaces the names of things in a text by their ids. */
  async function filled(text: string): Promise<string> {
    let result = text;
    for (const name of Object.keys(makers)) if (result.includes(name)) result = result.replaceAll(name, await thing(name));
    for (const [name, id] of Object.entries(shared).sort(([a], [b]) => b.length - a.length)) result = result.replaceAll(name, id);
    return result;
  }

  return {
    kit,
    async ask(who, method, path, { params = {}, query, payload }) {
      const address = await filled(path.replace(/\{(\w+)\*?\}/g, (_, name: string) => params[name] ?? newId()) + (query ? `?${query}` : ''));
      const headers: Record<string, string> = keys[who] === null ? {} : { 'x-api-key': keys[who]! };
      if (method === 'PATCH' && path.startsWith('/api/entities')) headers['if-match'] = '*';
      const body = payload === undefined ? undefined : JSON.parse(await filled(JSON.stringify(payload)));
      // Limits are another matter: everybody asks once an hour.
      clock.advance(3_600_000);
      const answer = await kit.request(method === '*' ? 'GET' : method, address, { payload: body, headers });
      // What a request may have changed is made anew for the next.
      if (method !== 'GET' && answer.status !== 401 && answer.status !== 403) unchanged.clear();
      return answer;
    },
  };
}

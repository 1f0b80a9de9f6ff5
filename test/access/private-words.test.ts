import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bundledPlugins } from '../../core/load.ts';
import { until } from '../../core/test/wait.ts';
import { stoppedClock, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Searches use the stem, which pages and problems repeat; no response may have a whole word. */
const STEM = 'Zqcanary';
const words: string[] = [];
const word = (name: string): string => {
  const made = `${STEM}${name}`;
  words.push(made);
  return made;
};

const PLACE = 'kansas-city,missouri';
const AREA = 'housing_affordability';
const FIXED: Record<string, string[]> = { place_key: [PLACE], state_key: ['missouri'], slug: [AREA, 'economic-security'], code: ['unknown_list'], name: ['pages.xml', 'places.xml', 'actors.xml', 'pages-1.xml'], group: ['workspaces'], file: ['style.css'], format: ['json'] };

describe('A workspace full of private words', { timeout: 300_000 }, () => {
  const clock = stoppedClock('2026-03-01T12:00:00.000Z');
  let kit: TestServer;
  let stranger: string;
  let visitor: PageReader;
  /** The workspace of the stranger, and the secrets of the feeds of both. */
  let elsewhere: string;
  const feeds: Record<'owner' | 'stranger', string> = { owner: '', stranger: '' };
  /** Ids of private things, and of public ones that stand beside them. */
  const ids: Record<string, string> = {};
  let home: string;

  before(async () => {
    // At an IP address a sign-in link begins a full session, without a passkey.
    kit = await testServer({ plugins: bundledPlugins(), clock, config: { public_url: 'http://192.0.2.7', plugins: { firehose: { anonymous: true } } } });
    const account = async (name: string, role: string) => {
      const { id, sign_in_link } = await runCommand(kit, 'account create', { name, plan: 'team', role }, []);
      const { key } = await runCommand(kit, 'key create', { account: id }, []) as { key: string };
      return { id, sign_in_link, key };
    };
    const owner = await account('Owner', 'user');
    const reviewer = await account('Reviewer', 'reviewer');
    const other = await account('Stranger', 'user');
    stranger = other.key;
    const send = async (key: string, path: string, payload: object) => {
      const made = await kit.request('POST', path, { payload, headers: { 'x-api-key': key } });
      if (made.status >= 300) throw new Error(`${path}: ${made.text}`);
      return made.body;
    };
    const claims = (name: string) => [{ property: 'name', value: name, source_local_id: 's' }, { property: 'place', value: PLACE, source_local_id: 's' }, { property: 'issue_area', value: AREA, source_local_id: 's' }];
    ids.public = (await send(reviewer.key, '/api/entities', { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/public' }], claims: claims('River Watch') })).id;
    ids.workspace = (await send(owner.key, '/api/workspaces', { name: word('workspace') })).id;
    home = `/api/workspaces/${ids.workspace}`;
    const key = (await runCommand(kit, 'key create', { account: owner.id, workspace: ids.workspace }, [])).key as string;
    // The watch finds the signals about the private actor, which is created after it.
    ids.watch = (await send(key, `${home}/watches`, { target: { type: 'query', query: { places: [PLACE], signal_types: ['actor_discovered'] } }, delivery: 'immediate' })).id;
    const hidden = await send(key, '/api/entities', { type: 'organization', sources: [{ local_id: 's', url: `https://example.org/${word('url')}`, title: word('title') }], claims: claims(word('actor')) });
    ids.private = hidden.id;
    ids.source = hidden.sources[0].id;
    const list = await send(key, `${home}/lists`, { name: word('list'), description: word('description') });
    ids.list = list.id;
    for (const [entity_id, note] of [[ids.public, word('listed')], [ids.private, word('hidden')]]) await send(key, `${home}/lists/${list.id}/items`, { entity_id, note });
    ids.note = (await send(key, `${home}/notes`, { target: { type: 'entity', id: ids.public }, text: word('note') })).id;
    await send(key, `${home}/notes`, { target: { type: 'place', id: PLACE }, text: word('place') });
    ids.target = (await send(key, `${home}/coverage-targets`, { place: PLACE, issue_areas: [AREA], wanted: 9, note: word('target') })).id;
    ids.review = (await send(key, `${home}/reviews`, { target: { type: 'entity', id: ids.public }, status: 'rejected', note: word('review') })).id;
    ids.brief = (await send(key, `${home}/briefs`, { title: word('brief'), summary_md: `**${word('summary')}**`, scope: { places: [PLACE], issue_areas: [AREA] }, entity_ids: [ids.public, ids.private], source_ids: [ids.source] })).id;
    ids.scoped = (await send(key, `${home}/watches`, { target: { type: 'coverage_target', id: ids.target } })).id;
    const digested = () => kit.request('GET', `${home}/digest`, { headers: { 'x-api-key': key } }).then(({ text }) => text);
    await until(async () => (await digested()).includes(`${STEM}actor`));
    const writer = pageReader(kit);
    await writer.follow(owner.sign_in_link);
    feeds.owner = await feedOf(writer, ids.workspace!);
    // Searches name no secret, so a word in it would not be found by its stem.
    words.push(feeds.owner);
    visitor = pageReader(kit);
    await visitor.follow(other.sign_in_link);
    elsewhere = (await kit.request('GET', '/api/workspaces', { headers: { 'x-api-key': stranger } })).body.data[0].id;
    feeds.stranger = await feedOf(visitor, elsewhere);
  });
  after(() => kit.close());

  /** Creates the private feed of a member, and returns its secret. */
  async function feedOf(reader: PageReader, workspace: string): Promise<string> {
    await reader.get(`/workspaces/${workspace}/watches`);
    const { text } = await reader.post(`/workspaces/${workspace}/watches/feed`);
    return /token(?:=|&#x3D;)([\w-]{43})/.exec(text)![1]!;
  }

  /** The paths of all routes that are read, with every id and word in place of their parameters; in a workspace, also those of its records below another one. */
  function paths(workspace: string): string[] {
    const routes = kit.server.table().filter(({ method, path }) => method === 'get' && path !== '/{any*}' && !path.endsWith('/socket') && path !== '/live');
    return routes.flatMap(({ path }) => {
      const filled = Object.values(ids).concat(STEM).map((id) => path.replace(/\{(\w+)\*?\}/g, (_, name: string) => (name === 'id' && path.startsWith('/api/workspaces') || path.startsWith('/workspaces') && name === 'id' ? workspace : FIXED[name]?.[0] ?? id)));
      const fixed = Object.entries(FIXED).flatMap(([name, values]) => (path.includes(`{${name}}`) ? values.map((value) => path.replace(`{${name}}`, value).replace(/\{\w+\*?\}/g, ids.public!)) : []));
      return [...new Set([...filled, ...fixed])];
    });
  }

  /** Adds searches for the stem, in the parameters that routes have for it. */
  const searches = ['/api/entities?query=', '/api/exports/entities?format=ndjson&query=', '/search?q=', '/search?query=', '/suggest?q=', '/reconcile/suggest/entity?prefix=', '/api/places?query=', '/api/issue-areas?query='].map((path) => path + STEM)
    .concat(['/api/exports/entities?format=csv', '/api/exports/entities?format=ndjson', `/api/places/${PLACE}/entities?include=claims&include=sources`, `/api/entities?place=${PLACE}&facets=true`, '/api/firehose?visibility=public', '/actors/$public?from=$private', '/api/workspaces/$workspace/feed.atom?token=$stranger']);

  function foundIn(text: string, asked: string): string[] {
    const shown = Object.entries(ids).filter(([name, id]) => name !== 'public' && !asked.includes(id) && text.includes(id)).map(([name]) => `the id of ${name}`);
    return [...words.filter((one) => text.toLowerCase().includes(one.toLowerCase())), ...shown];
  }

  async function leaks(read: (path: string) => Promise<{ raw: string; status: number }>): Promise<string[]> {
    const found: string[] = [];
    let answered = 0;
    const named = searches.map((one) => one.replace('$public', ids.public!).replace('$private', ids.private!).replace('$workspace', ids.workspace!).replace('$stranger', feeds.stranger));
    for (const path of new Set([...paths(ids.workspace!), ...paths(elsewhere), ...named])) {
      // Limits are another matter.
      clock.advance(120_000);
      const { raw, status } = await read(path);
      if (status >= 500) throw new Error(`${path}: ${raw.slice(0, 500)}`);
      if (status === 200) answered++;
      found.push(...foundIn(raw, path).map((one) => `${one} in ${path} (${status})`));
    }
    expect(answered, 'the walk reads pages at all').to.be.above(40);
    return found;
  }

  const request = async (path: string, headers: Record<string, string>) => {
    const { text, headers: sent, status } = await kit.request('GET', path, { headers });
    return { raw: `${JSON.stringify(sent)}\n${text}`, status };
  };

  it('has every word in the workspace itself', async () => {
    const { key } = await runCommand(kit, 'key create', { account: (await kit.db.read('accounts_people').where({ name: 'Owner' }).first()).id, workspace: ids.workspace }, []);
    let all = '';
    for (const path of ['', '/export', '/lists', `/lists/${ids.list}`, `/lists/${ids.list}/export?format=csv`, '/notes', '/coverage-targets', '/reviews', '/briefs', `/briefs/${ids.brief}/export?format=md`, '/watches', '/digest']) all += (await request(home + path, { 'x-api-key': key })).raw;
    all += (await request(`/api/entities/${ids.private}`, { 'x-api-key': key })).raw;
    const feed = await request(`${home}/feed.atom?token=${feeds.owner}`, {});
    expect(feed.status).to.equal(200);
    expect(feed.raw).to.include(`${STEM}actor`);
    expect(words.filter((one) => one !== feeds.owner && !all.includes(one) && !all.includes(one.toLowerCase()))).to.equal([]);
  });

  it('shows none of them to anonymous readers, as programs and as browsers', async () => {
    expect(await leaks((path) => request(path, {}))).to.equal([]);
    expect(await leaks((path) => request(`/es${path}`, { accept: 'text/html' }).then((es) => (es.status === 404 ? request(path, { accept: 'text/html' }) : es)))).to.equal([]);
  });

  it('shows none of them to another account, by key and by session', async () => {
    expect(await leaks((path) => request(path, { 'x-api-key': stranger }))).to.equal([]);
    expect(await leaks((path) => visitor.get(path).then(({ text, headers, status }) => ({ raw: `${JSON.stringify(headers)}\n${text}`, status })))).to.equal([]);
  });

  it('shows none of them to assistants of others', async () => {
    const scope = kit.composition.plugins.flatMap(({ scopes = {} }) => Object.keys(scopes));
    const account_id = (await kit.db.read('accounts_people').where({ name: 'Stranger' }).first()).id as string;
    const found: string[] = [];
    for (const tool of kit.composition.assistant.tools.values()) {
      if (!tool.readOnly) continue;
      for (const given of [{}, { query: STEM }, { id: ids.private }, { id: ids.source }, { place_key: PLACE }, { list_id: ids.list }, ...['notes', 'coverage_targets', 'reviews', 'briefs', 'watches'].map((kind) => ({ kind }))]) {
        const result = await kit.tool(tool.name, given, { as: { account_id, via: 'token', workspace_id: elsewhere, workspace_role: 'owner', scope, capabilities: ['firehose'] } }).catch((error: Error) => ({ data: null, text: error.message }));
        found.push(...foundIn(JSON.stringify(result), JSON.stringify(given)).map((one) => `${one} in ${tool.name} ${JSON.stringify(given)}`));
      }
    }
    expect(found).to.equal([]);
  });
});

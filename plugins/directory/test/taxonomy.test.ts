import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer, type TestServer } from 'civic/testing';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import directory from '../index.ts';
import type { IssueAreaRecord } from '../taxonomy/schemas.ts';
import { openTaxonomy, taxonomyCheck } from '../taxonomy/service.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Topic {
  slug: string;
  name: string;
  search_terms: string[];
}

const root = fileURLToPath(new URL('.', import.meta.resolve('civic/package.json')));
const folder = join(root, 'plugins/directory/test/taxonomy-errors');
const { domains } = parse(readFileSync(join(root, 'config/taxonomy.yaml'), 'utf8')) as { domains: (Topic & { issue_areas: Topic[] })[] };
const small = `
domains:
  - slug: water
    name: Water
    description: Water.
    search_terms: [water]
    issue_areas:
      - { slug: rivers, name: Rivers, description: Running water., search_terms: [stream] }
`;

const withFile = (path: string): Promise<TestServer> => testServer({ plugins: [directory], config: { plugins: { directory: { taxonomy_file: path } } } });

async function refusalOf(path: string): Promise<string> {
  try {
    await (await withFile(path)).close();
  } catch (error) {
    return `${(error as Error).message.replaceAll(`${folder}/`, '')}\n`;
  }
  return 'It started.\n';
}

describe('The kit’s own taxonomy', () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [directory] }); });
  after(() => kit.close());

  const get = (path: string, headers: Record<string, string> = {}) => kit.request('GET', path, { headers });
  const areas = async (search: string): Promise<IssueAreaRecord[]> => (await get(`/api/issue-areas?${search}`)).body.data;
  const slugs = async (search: string): Promise<string[]> => (await areas(search)).map((area) => area.slug);
  const best = async (text: string) => (await areas(`query=${encodeURIComponent(text)}`))[0]!;

  it('has 11 domains and 51 issue areas, each with 8 to 20 search terms', () => {
    const areas = domains.flatMap((domain) => domain.issue_areas);
    expect([domains.length, areas.length]).to.equal([11, 51]);
    for (const { slug, search_terms: terms } of [...domains, ...areas] as Topic[]) {
      expect(terms.length, slug).to.be.between(7, 21);
      expect(new Set(terms.map((term) => term.toLowerCase())).size, slug).to.equal(terms.length);
    }
  });

  it('lists all issue areas in one answer, in the order of the file [endpoints.issue-areas]', async () => {
    const { status, body } = await get('/api/issue-areas');
    expect(status).to.equal(200);
    expect(body).to.only.include(['data', 'total', 'next_cursor']);
    expect([body.data.length, body.total, body.next_cursor]).to.equal([51, 51, null]);
    expect(body.data[0]).to.equal({
      slug: 'automation_and_ai_displacement',
      name: 'Automation and AI Displacement',
      description: 'Changes to jobs and wages brought by automation, robotics and artificial intelligence, and how workers and regions respond to them.',
      domain: { slug: 'economic-security', name: 'Economic Security' },
      entity_count: 0,
      match_score: null,
    });
    expect(body.data.at(-1).slug).to.equal('just_transition');
  });

  it('narrows issue areas to a domain, and to none when the domain is unknown', async () => {
    expect(await slugs('domain=education')).to.equal(['k12_education_inequality', 'higher_education_affordability', 'vocational_and_alternative_pathways', 'education_funding_and_policy']);
    const { status, body } = await get('/api/issue-areas?domain=nowhere');
    expect([status, body]).to.equal([200, { data: [], total: 0, next_cursor: null }]);
  });

  it('rejects empty parameters and unknown ones', async () => {
    for (const search of ['query=', 'domain=', 'query=%20']) expect((await get(`/api/issue-areas?${search}`)).status, search).to.equal(400);
    const { status, body } = await get('/api/issue-areas?quer=rent');
    expect(status).to.equal(400);
    expect(body.errors).to.equal([{ parameter: 'quer', detail: 'is not known here; did you mean "query"?' }]);
    expect((await get('/api/issue-areas?domain=education&domain=water')).status).to.equal(400);
    expect((await get(`/api/issue-areas?query=${'x'.repeat(301)}`)).status).to.equal(400);
  });

  const meant = {
    'Housing Affordability': 'housing_affordability',
    'affordable housing': 'housing_affordability',
    'TENANTS': 'housing_affordability',
    'food stamps': 'sustainable_agriculture_and_food_systems',
    'SNAP': 'sustainable_agriculture_and_food_systems',
    'gerrymandering': 'electoral_reform',
    'K12': 'k12_education_inequality',
    'k-12': 'k12_education_inequality',
    'coop': 'worker_cooperatives',
    'wi-fi': 'broadband_and_digital_access',
    '988': 'mental_health_crisis_and_access',
    'tránsit': 'public_transit',
  };
  for (const [text, slug] of Object.entries(meant)) {
    it(`knows that "${text}" is ${slug}`, async () => {
      expect(await best(text)).to.include({ slug, match_score: 1 });
    });
  }

  const typos = { 'afordable housing': 'housing_affordability', gerymandering: 'electoral_reform', evcition: 'homelessness_and_housing_insecurity', loneleness: 'loneliness_and_social_isolation' };
  for (const [text, slug] of Object.entries(typos)) {
    it(`forgives the typing error in "${text}", but not for the full score`, async () => {
      const found = await best(text);
      expect(found.slug).to.equal(slug);
      expect(found.match_score!).to.be.below(1);
    });
  }

  it('does not guess at short words and finds nothing in words it does not know', async () => {
    for (const text of ['snpa', 'xyzzy', 'and the', '???', 'zzz '.repeat(70)]) expect(await slugs(`query=${encodeURIComponent(text)}`), text).to.equal([]);
  });

  it('finds the subject in a sentence, with scores from 1 down and never up', async () => {
    const found = await areas('query=who%20works%20on%20affordable%20housing%20in%20Kansas%20City');
    const scores = found.map((area) => area.match_score!);
    expect(found[0]!.slug).to.equal('housing_affordability');
    expect(scores).to.equal(scores.toSorted((one, other) => other - one));
    expect(scores[0]!).to.be.between(0.5, 1);
    expect(scores.at(-1)!).to.be.at.least(0.1);
  });

  it('searches within a domain', async () => {
    const found = await slugs('query=water&domain=infrastructure-and-public-goods');
    expect(found).to.equal(['water_infrastructure']);
  });

  it('finds every issue area by its name and by each of its own and its domain’s search terms', () => {
    const { resolveIssueAreas, issueAreas } = openTaxonomy(null);
    for (const { slug, name, search_terms: terms, domain } of issueAreas) {
      const scoreOf = (text: string) => resolveIssueAreas(text).find(({ item }) => item.slug === slug)?.score ?? 0;
      for (const text of [name, slug, ...terms]) expect(scoreOf(text), `${text}: ${slug}`).to.equal(1);
      for (const text of [domain.name, ...domain.search_terms]) expect(scoreOf(text), `${text}: ${slug}`).to.be.at.least(0.4);
    }
  });

  it('names every issue area by a slug in lower case with underscores [resources.issue-slug]', async () => {
    for (const slug of await slugs('')) {
      expect(slug).to.match(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect((await get(`/api/issue-areas/${slug}`)).body.slug).to.equal(slug);
    }
  });

  it('answers one issue area, and 404 with the likely ones otherwise', async () => {
    const { status, headers, body } = await get('/api/issue-areas/public_transit');
    expect(status).to.equal(200);
    expect(headers['content-location']).to.match(/\/api\/issue-areas\/public_transit$/);
    expect(body).to.include({ slug: 'public_transit', entity_count: 0, match_score: null });
    for (const wrong of ['housing_afordability', 'housing-affordability', 'Housing_Affordability']) {
      const refused = await get(`/api/issue-areas/${wrong}`);
      expect(refused.status).to.equal(404);
      expect(refused.body.code).to.equal('unknown_issue_area');
      expect(refused.body.did_you_mean[0]).to.equal('housing_affordability');
      expect(refused.body.did_you_mean).to.have.length(3);
    }
    const unknown = await get('/api/issue-areas/xyzzy');
    expect(unknown.body).to.include({ did_you_mean: [], detail: 'No issue area has the slug "xyzzy".' });
  });

  it('lists the domains with the slugs of their issue areas', async () => {
    const { status, body } = await get('/api/domains');
    expect(status).to.equal(200);
    expect([body.data.length, body.total, body.next_cursor]).to.equal([11, 11, null]);
    expect(body.data[5]).to.equal({
      slug: 'education',
      name: 'Education',
      description: 'Learning from early childhood to adulthood, and the schools and programs that offer it.',
      issue_area_count: 4,
      issue_areas: await slugs('domain=education'),
    });
  });

  it('answers one domain, and 404 with the likely ones otherwise', async () => {
    expect((await get('/api/domains/education')).body.issue_area_count).to.equal(4);
    const { status, body } = await get('/api/domains/housing');
    expect(status).to.equal(404);
    expect(body).to.include({ code: 'unknown_domain' });
    expect(body.did_you_mean[0]).to.equal('housing-and-the-built-environment');
  });

  it('may be kept for an hour, and is 304 to who has it', async () => {
    for (const path of ['/api/issue-areas', '/api/issue-areas?query=rent', '/api/issue-areas/public_transit', '/api/domains', '/api/domains/education']) {
      const { headers } = await get(path);
      expect(headers['cache-control'], path).to.equal('public, max-age=3600');
      expect(headers.etag, path).to.match(/^W\/"[^"]+"$/);
      const again = await get(path, { 'if-none-match': String(headers.etag) });
      expect([again.status, again.text, again.headers.etag, again.headers['cache-control']], path).to.equal([304, '', headers.etag, headers['cache-control']]);
    }
  });
});

describe('A slug in use', () => {
  const used = new Map<string, number>();
  const { run } = taxonomyCheck(() => openTaxonomy(null), async () => used);

  it('cannot vanish silently: doctor names issue areas that the file lost', async () => {
    used.set('public_transit', 3);
    expect(await run()).to.equal({ status: 'ok', detail: `11 domains and 51 issue areas in ${join(root, 'config/taxonomy.yaml')}` });
    used.set('trolleys', 2).set('airships', 1);
    const { status, detail } = await run();
    expect(status).to.equal('warning');
    expect(detail).to.contain('airships (1), trolleys (2)');
    expect(detail).to.not.contain('public_transit');
  });
});

describe('A taxonomy of one’s own', () => {
  let own: string;
  before(() => { own = mkdtempSync(join(tmpdir(), 'civic-taxonomy-')); });
  after(() => { rmSync(own, { recursive: true }); });

  async function etagOf(text: string): Promise<string> {
    writeFileSync(join(own, 'own.yaml'), text);
    const kit = await withFile(join(own, 'own.yaml'));
    try {
      return String((await kit.request('GET', '/api/issue-areas')).headers.etag);
    } finally {
      await kit.close();
    }
  }

  it('replaces the kit’s as a whole', async () => {
    writeFileSync(join(own, 'own.yaml'), small);
    const kit = await withFile(join(own, 'own.yaml'));
    try {
      expect((await kit.request('GET', '/api/issue-areas')).body.data.map((area: { slug: string }) => area.slug)).to.equal(['rivers']);
      expect((await kit.request('GET', '/api/issue-areas?query=streams')).body.data[0].match_score).to.equal(1);
      expect((await kit.request('GET', '/api/domains/education')).status).to.equal(404);
    } finally {
      await kit.close();
    }
  });

  it('has another ETag when its text changes, and the same when it does not', async () => {
    const first = await etagOf(small);
    expect(await etagOf(small)).to.equal(first);
    expect(await etagOf(small.replace('Running', 'Flowing'))).to.not.equal(first);
  });

  it('is not there, or is a folder: the start says which file and which option', async () => {
    expect(await refusalOf(join(folder, 'nowhere.yaml'))).to.equal('The taxonomy nowhere.yaml does not exist: see plugins.directory.taxonomy_file\n');
    expect(await refusalOf(own)).to.equal(`The taxonomy ${own} is a folder: see plugins.directory.taxonomy_file\n`);
  });

  /*
   * A case is <name>.yaml, a broken taxonomy, and <name>.txt, the exact text people see.
   * CIVIC_UPDATE_GOLDEN=1 rewrites the texts; look at the difference before it is committed.
   */
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -5))) {
    it(`is refused with all its mistakes and their lines: ${name.replaceAll('-', ' ')}`, async () => {
      const golden = join(folder, `${name}.txt`);
      const text = await refusalOf(join(folder, `${name}.yaml`));
      if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(golden, text);
      expect(text).to.equal(readFileSync(golden, 'utf8'));
      expect(text, 'something a terminal would act upon').to.not.match(/(?!\n)[\p{Cc}\u202a-\u202e]/u);
    });
  }
});

import type { Example, Examples, ExampleSource } from 'civic';
import type { ExampleEntry } from './offered/example.ts';
import type { DirectoryService } from './offered/service.ts';
import type { Directory } from './service.ts';

const CREATE = 'POST /api/entities';
const IMPORT = 'POST /api/imports';

const entry = (name: string, page: string) => ({
  type: 'organization',
  sources: [{ local_id: 'web', url: `https://river.example/${page}` }],
  claims: [
    { property: 'name', value: name, source_local_id: 'web' },
    { property: 'place', value: 'kansas-city,missouri', source_local_id: 'web' },
    { property: 'website', value: 'https://river.example/', source_local_id: 'web' },
  ],
});

const FIRST = entry('Friends of the River', 'about');
const SECOND = entry('River Friends', 'contact');
const REASON = 'Both name the same website';
const CHOIR = { '@context': 'https://schema.org', '@type': 'Organization', '@id': 'https://riverchoir.example/', 'name': 'Lower River Choir', 'url': 'https://riverchoir.example/', 'areaServed': 'Kansas City, MO' };

/** Requests for `/docs`. Reads show an actor of this instance; writes change only what they have created, which belongs to the workspace of the caller. */
export function directoryExamples({ taxonomy }: Directory, { exampleEntry, detail }: Pick<DirectoryService, 'exampleEntry' | 'detail'>): Examples {
  const of = (make: (found: ExampleEntry) => Example | null): ExampleSource => async () => {
    const found = await exampleEntry();
    return found && make(found);
  };
  const ofEntry = of(({ id }) => ({ params: { id } }));
  const ofPlace = of(({ place_key }) => place_key === null ? null : { params: { place_key } });
  const ofIssue = async (): Promise<Example> => ({ params: { slug: (await exampleEntry())?.issue_area ?? taxonomy().issueAreas[0]!.slug } });
  const created = { entry: { of: CREATE } };
  const pair = { entry: { of: CREATE }, other: { of: CREATE, body: SECOND } };
  return {
    'GET /api/places': [{ title: 'The places that a text may mean', query: { query: 'Kansas City, MO' } }, { title: 'The places that have entries', query: { limit: 5 } }],
    'GET /api/places/{place_key}': ofPlace,
    ...forEach(['entities', 'sources', 'coverage', 'feed.atom', 'feed.json', 'meetings.ics'], (part) => [`GET /api/places/{place_key}/${part}`, ofPlace]),
    'GET /api/entities': of(({ name }) => ({ query: { query: name.split(' ').slice(0, 2).join(' '), facets: true } })),
    ...forEach(['feed.atom', 'feed.json'], (part) => [`GET /api/entities/${part}`, async () => ({ query: { entity_type: 'organization' } })]),
    'GET /api/entities/{id}': ofEntry,
    'GET /api/entities/by-slug/{slug}': of(({ slug }) => ({ params: { slug } })),
    ...forEach(['sources', 'claims', 'history', 'related', 'duplicates', 'judgements'], (part) => [`GET /api/entities/{id}/${part}`, ofEntry]),
    'GET /api/sources/{id}': async () => {
      const found = await exampleEntry();
      return found && { params: { id: (await detail(found.id, null)).sources[0]!.id } };
    },
    'GET /api/issue-areas': { query: { query: 'rent' } },
    ...forEach(['', '/feed.atom', '/feed.json', '/meetings.ics'], (part) => [`GET /api/issue-areas/{slug}${part}`, ofIssue]),
    'GET /api/domains/{slug}': async () => ({ params: { slug: taxonomy().domains[0]!.slug } }),
    'GET /api/exports/entities': of(({ place_key }) => ({ query: { format: 'ndjson', ...(place_key && { place: place_key }) } })),

    [CREATE]: { body: FIRST },
    'PATCH /api/entities/{id}': {
      given: created,
      params: { id: '$entry' },
      body: { sources: [{ local_id: 'news', url: 'https://news.example/river-cleanup' }], add: [{ property: 'description', value: 'Cleans the banks of the river every spring.', source_local_id: 'news' }] },
    },
    'DELETE /api/entities/{id}': { given: created, params: { id: '$entry' } },
    'POST /api/entities/{id}/publish': { needs: 'The role reviewer or admin.', given: created, params: { id: '$entry' } },
    'POST /api/entities/{id}/merge': { given: pair, params: { id: '$entry' }, body: { into: '$other', reason: REASON } },
    'POST /api/entities/{id}/split': { given: { merged: { of: 'POST /api/entities/{id}/merge' } }, params: { id: '$merged' }, body: {} },
    'POST /api/judgements': { given: pair, body: { left_id: '$entry', right_id: '$other', verdict: 'different', reason: 'One is a choir' } },
    'DELETE /api/judgements/{id}': { given: { judgement: { of: 'POST /api/judgements' } }, params: { id: '$judgement' } },
    'POST /api/rechecks/{source_id}': { needs: 'The role reviewer or admin.', given: { source: { of: CREATE, take: '.sources[0].id', body: { ...FIRST, visibility: 'public' } } }, params: { source_id: '$source' }, body: { outcome: 'confirmed' } },
    [IMPORT]: { query: { format: 'schemaorg', source_url: 'https://riverchoir.example/about' }, type: 'application/ld+json', body: CHOIR },
    'GET /api/imports/{id}': { given: { import: { of: IMPORT } }, params: { id: '$import' } },
    'GET /api/imports/{id}/rejects': { given: { import: { of: IMPORT } }, params: { id: '$import' } },
  };
}

function forEach(parts: string[], make: (part: string) => [string, ExampleSource]): Examples {
  return Object.fromEntries(parts.map(make));
}

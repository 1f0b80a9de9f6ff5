import type { Example, Examples, ExampleValue } from 'civic';

const workspace = { workspace: { of: 'GET /api/workspaces', take: '.data[0].id' } };
const entity = { entity: { of: 'GET /api/entities', take: '.data[0].id' } };

/** Returns the examples of the routes of `records/routes.ts` for a kind of record. Writes change a record that they have created. */
export function recordExamples(path: string, param: string, created: Pick<Example, 'given' | 'body'>, changed: object): Examples {
  const one = { given: { ...workspace, ...created.given, record: { of: `POST ${path}` } }, params: { id: '$workspace', [param]: '$record' } };
  return {
    [`GET ${path}`]: { given: workspace, params: { id: '$workspace' } },
    [`POST ${path}`]: { given: { ...workspace, ...created.given }, params: { id: '$workspace' }, body: created.body },
    [`GET ${path}/{${param}}`]: one,
    [`PATCH ${path}/{${param}}`]: { ...one, body: changed },
    [`DELETE ${path}/{${param}}`]: one,
  };
}

const LISTS = '/api/workspaces/{id}/lists';
const ITEMS = `${LISTS}/{list_id}/items`;
const ofList: Example = { given: { ...workspace, ...entity, list: { of: `POST ${LISTS}` } }, params: { id: '$workspace', list_id: '$list' } };
const ofItem: Example = { given: { ...ofList.given, item: { of: `POST ${ITEMS}`, take: '.entity_id' } }, params: { ...ofList.params, entity_id: '$item' } };

const NOTES = '/api/workspaces/{id}/notes';
const TARGETS = '/api/workspaces/{id}/coverage-targets';
const REVIEWS = '/api/workspaces/{id}/reviews';
/** The entry is private to its workspace, and a key may be of another one than the review. */
const IN_WORKSPACE: ExampleValue = { of: 'POST /api/entities', headers: { 'X-Workspace-ID': '$workspace' } };
const inOwn: Example = { given: workspace, params: { id: '$workspace' } };
const exported = (kind: string) => ({ format: 'civic workspace export', version: 1, kind, records: [] });

/** Requests for `/docs`, in the personal workspace, which every account has. */
export const workspaceExamples: Examples = {
  ...recordExamples(LISTS, 'list_id', { body: { name: 'Groups to call', description: 'Before the hearing in June' } }, { name: 'Groups to call again' }),
  [`GET ${LISTS}/{list_id}/export`]: { ...ofList, query: { format: 'csv' } },
  [`POST ${LISTS}/import`]: { ...inOwn, type: 'text/csv', body: 'entity_id,note\n' },
  ...recordExamples(NOTES, 'note_id', { body: { target: { type: 'place', id: 'gladstone,missouri' }, text: 'The council meets on the second Monday.' } }, { text: 'The council meets on the third Monday.' }),
  ...recordExamples(TARGETS, 'coverage_target_id', { body: { place: 'gladstone,missouri', issue_areas: ['housing_affordability'], wanted: 3 } }, { wanted: 5 }),
  ...recordExamples(REVIEWS, 'review_id', { given: { entity: IN_WORKSPACE }, body: { target: { type: 'entity', id: '$entity' }, status: 'in_review' } }, { status: 'confirmed', note: 'Called them.' }),
  ...Object.fromEntries([[NOTES, 'notes'], [TARGETS, 'coverage-targets'], [REVIEWS, 'reviews']].flatMap(([path, kind]) => [[`GET ${path}/export`, { ...inOwn, query: { format: 'md' } }], [`POST ${path}/import`, { ...inOwn, body: exported(kind!) }]])),
  'GET /api/workspaces/{id}/export': inOwn,
  'GET /api/workspaces/{id}/usage': inOwn,
  'GET /api/workspaces/{id}/usage/export': inOwn,
  [`GET ${ITEMS}`]: ofList,
  [`POST ${ITEMS}`]: { ...ofList, body: { entity_id: '$entity', note: 'Ask about the hearing' } },
  [`GET ${ITEMS}/{entity_id}`]: ofItem,
  [`PATCH ${ITEMS}/{entity_id}`]: { ...ofItem, body: { note: 'Called' } },
  [`DELETE ${ITEMS}/{entity_id}`]: ofItem,
};

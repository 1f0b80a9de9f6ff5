import type { Example, Examples } from 'civic';

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

/** Requests for `/docs`, in the personal workspace, which every account has. */
export const workspaceExamples: Examples = {
  ...recordExamples(LISTS, 'list_id', { body: { name: 'Groups to call', description: 'Before the hearing in June' } }, { name: 'Groups to call again' }),
  [`GET ${ITEMS}`]: ofList,
  [`POST ${ITEMS}`]: { ...ofList, body: { entity_id: '$entity', note: 'Ask about the hearing' } },
  [`GET ${ITEMS}/{entity_id}`]: ofItem,
  [`PATCH ${ITEMS}/{entity_id}`]: { ...ofItem, body: { note: 'Called' } },
  [`DELETE ${ITEMS}/{entity_id}`]: ofItem,
};

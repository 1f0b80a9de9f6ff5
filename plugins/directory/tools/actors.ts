import { fitList, Joi, pageOf, type ListQuery, type Reader, type TextList, type Tool, type ToolCall } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { entitySources, relatedEntities } from '../actors/part-reads.ts';
import { relatedList, sourceList } from '../actors/parts-routes.ts';
import type { ShownActor } from '../actors/read-store.ts';
import { actorDetail, positionShape, searchEntities, shownActor, type EntityQuery } from '../actors/reads.ts';
import { actorList, entityFilters } from '../actors/routes.ts';
import { actorDetailSchema, toolPaging } from '../actors/schemas.ts';
import type { Actor, Source } from '../types.ts';
import { detailPage, detailText } from './detail.ts';
import { actorLine, listText, sourceLine } from './text.ts';

/** So many sources are shown with each actor of a list; get_entity_sources has all. */
export const SHOWN = { include: ['sources'], mostSources: 3 } as const;
export const INVALID_CURSOR = 'Use next_cursor of the previous result unchanged, with the same arguments as before.';

const UNKNOWN_ACTOR = 'Use the full id of an actor as search_entities returned it. If the problem has merged_into, use that id.';

const id = Joi.string().required().description('The full id of an actor, from search_entities or get_place_entities');
const searchInput = Joi.object({ ...entityFilters, ...toolPaging });
const partQuery = Joi.object(toolPaging);
const partInput = Joi.object({ id, ...toolPaging });

export interface List<Item> {
  data: Item[];
  total: number;
  next_cursor: string | null;
}

interface Related {
  entity: Actor;
  score: number;
  evidence: { kind: string; detail: string }[];
}

type PartInput = { id: string } & Record<string, unknown>;

/** The arguments of a tool as the query of the route that reads the same: their cursors are interchangeable. */
export function listQuery(path: string, query: object, schema: Joi.ObjectSchema, { given }: ToolCall): ListQuery {
  return { path, query: query as Record<string, unknown>, given: given.filter((name) => name in query), schema };
}

export function actorTools(context: DirectoryContext): Tool[] {
  const { civic } = context;

  /** A page of what belongs to one actor. */
  async function part<Item>(name: string, { id: actorId, ...query }: PartInput, call: ToolCall, read: (reader: Reader, actor: ShownActor, page: { limit: number; after: (string | number)[] | null }) => Promise<TextList>): Promise<List<Item>> {
    const list = listQuery(`/api/entities/${actorId}/${name}`, query, partQuery, call);
    return fitList(list, pageOf(list, ['integer']), call.maxBytes, (page) => civic.db.snapshot(async (tx) => read(tx, await shownActor(tx, call.caller, actorId, civic.url), page)));
  }

  return [
    {
      name: 'search_entities',
      title: 'Search actors',
      description: 'Finds civic actors (people, organizations, initiatives, campaigns, events) by words and filters, each with its latest sources. Get slugs for issue_area from resolve_issue_areas and keys for place from search_places. An unknown place or issue area matches nothing; suggestions in the result then names similar ones.',
      readOnly: true,
      destructive: false,
      input: searchInput,
      output: actorList,
      advice: { invalid_cursor: INVALID_CURSOR, insufficient_scope: 'Leave visibility out: public actors need no scope.' },
      async run(given: EntityQuery, call) {
        const list = listQuery('/api/entities', given, searchInput, call);
        const data: List<Actor> = await fitList(list, pageOf<EntityQuery>(list, positionShape), call.maxBytes, (page) => searchEntities(context, page, call.caller, SHOWN));
        return { data, text: listText(['actor', 'actors'], data, data.data.map(actorLine)) };
      },
    },
    {
      name: 'get_entity',
      title: 'Read an actor',
      description: 'Returns one actor with its claims and their sources. Each claim names its source by source_id: cite it.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ id, cursor: Joi.string().description('From `next_cursor`: further claims') }),
      output: actorDetailSchema.keys({ next_cursor: Joi.string().allow(null).required().description('For further claims of an actor that has many') }).meta({ name: 'ActorDetailPage' }),
      advice: { unknown_actor: UNKNOWN_ACTOR, invalid_cursor: INVALID_CURSOR },
      async run(given: { id: string; cursor?: string }, { caller, maxBytes }) {
        const { body } = await actorDetail(context, (reader) => shownActor(reader, caller, given.id, civic.url));
        const page = detailPage(body, given, maxBytes);
        return { ...page, text: detailText(page.data) };
      },
    },
    {
      name: 'get_entity_sources',
      title: 'List the sources of an actor',
      description: 'Returns the sources that an actor stands on, the latest retrieved first: URL, title, publication, dates and excerpt.',
      readOnly: true,
      destructive: false,
      input: partInput,
      output: sourceList,
      advice: { unknown_actor: UNKNOWN_ACTOR, invalid_cursor: INVALID_CURSOR },
      async run(given: PartInput, call) {
        const data = await part<Source>('sources', given, call, (reader, actor, page) => entitySources(context, reader, actor, page));
        return { data, text: listText(['source', 'sources'], data, data.data.map(sourceLine)) };
      },
    },
    {
      name: 'get_related_entities',
      title: 'Find related actors',
      description: 'Returns actors that share an affiliation, a source, an issue area or a place with an actor, the strongest relation first. evidence names what they share.',
      readOnly: true,
      destructive: false,
      input: partInput,
      output: relatedList,
      advice: { unknown_actor: UNKNOWN_ACTOR, invalid_cursor: INVALID_CURSOR },
      async run(given: PartInput, call) {
        const data = await part<Related>('related', given, call, (reader, actor, page) => relatedEntities(context, reader, actor, page, SHOWN));
        return { data, text: listText(['related actor', 'related actors'], data, data.data.map(relatedLine)) };
      },
    },
  ];
}

function relatedLine({ entity, evidence }: Related): string {
  return `${actorLine(entity)}; shared ${evidence.slice(0, 3).map(({ kind, detail }) => `${kind} ${detail}`).join(', ')}`;
}

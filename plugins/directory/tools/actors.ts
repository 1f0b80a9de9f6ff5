import { Joi, quoteText, summarizeList, type Page, type PositionShape, type Reader, type TextList, type Tool } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { SOURCE_POSITION, WITH_LATEST_SOURCES } from '../actors/detail.ts';
import { entitySources, relatedEntities } from '../actors/part-reads.ts';
import { relatedList, sourceList } from '../actors/parts-routes.ts';
import type { ShownActor } from '../actors/read-store.ts';
import { RELATED_POSITION } from '../actors/related.ts';
import { positionShape, searchEntities, shownActor, type EntityQuery } from '../actors/reads.ts';
import { actorList, entityFilters } from '../actors/routes.ts';
import { actorDetailSchema, toolPaging } from '../actors/schemas.ts';
import type { Actor, Source } from '../types.ts';
import { detailPage, detailText } from './detail.ts';
import { INVALID_CURSOR, readList } from './list.ts';
import { actorLine, sourceLine } from './text.ts';

const UNKNOWN_ACTOR = 'Use the full id of an actor as search_entities returned it. If the problem has merged_into, use that id.';

const id = Joi.string().required().description('The full id of an actor, from search_entities or get_place_entities');
const searchInput = Joi.object({ ...entityFilters, ...toolPaging });
const partQuery = Joi.object(toolPaging);

export function actorTools(context: DirectoryContext): Tool[] {
  return [searchTool(context), entityTool(context), sourcesTool(context), relatedTool(context)];
}

function searchTool(context: DirectoryContext): Tool {
  return {
    name: 'search_entities',
    title: 'Search actors',
    description: [
      'Finds civic actors (people, organizations, initiatives, campaigns, events) by words and filters, each with its latest sources.',
      'Get slugs for issue_area from resolve_issue_areas and keys for place from search_places.',
      'An unknown place or issue area matches nothing; suggestions in the result then names similar ones.',
    ].join(' '),
    readOnly: true,
    destructive: false,
    input: searchInput,
    output: actorList,
    advice: { invalid_cursor: INVALID_CURSOR, insufficient_scope: 'Leave visibility out: public actors need no scope.' },
    async run(query: EntityQuery, call) {
      const data = await readList<Actor, EntityQuery>({
        path: '/api/entities', query, schema: searchInput, position: positionShape,
        read: (page) => searchEntities(context, page, call.caller, WITH_LATEST_SOURCES),
      }, call);
      return { data, text: summarizeList(['actor', 'actors'], data, data.data.map(actorLine)) };
    },
  };
}

function entityTool(context: DirectoryContext): Tool {
  const nextCursor = Joi.string().allow(null).required().description('For further claims of an actor that has many');
  return {
    name: 'get_entity',
    title: 'Read an actor',
    description: 'Returns one actor with its claims and their sources. Each claim names its source by source_id: cite it.',
    readOnly: true,
    destructive: false,
    input: Joi.object({ id, cursor: Joi.string().description('From `next_cursor`: further claims') }),
    output: actorDetailSchema.keys({ next_cursor: nextCursor }).meta({ name: 'ActorDetailPage' }),
    advice: { unknown_actor: UNKNOWN_ACTOR, invalid_cursor: INVALID_CURSOR },
    async run(given: { id: string; cursor?: string }, { caller, maxBytes }) {
      const page = await detailPage(context, (reader) => shownActor(reader, caller, given.id, context.civic.url), given, maxBytes);
      return { ...page, text: detailText(page.data) };
    },
  };
}

function sourcesTool(context: DirectoryContext): Tool {
  return partTool<Source>(context, {
    part: 'sources',
    name: 'get_entity_sources',
    title: 'List the sources of an actor',
    description: 'Returns the sources of an actor, the latest retrieved first: URL, title, publication, dates and excerpt.',
    output: sourceList,
    position: SOURCE_POSITION,
    read: entitySources,
    label: ['source', 'sources'],
    line: sourceLine,
  });
}

interface Related {
  entity: Actor;
  score: number;
  evidence: { kind: string; detail: string }[];
}

function relatedTool(context: DirectoryContext): Tool {
  return partTool<Related>(context, {
    part: 'related',
    name: 'get_related_entities',
    title: 'Find related actors',
    description: 'Returns actors that share an affiliation, a source, an issue area or a place with an actor, the strongest relation first. evidence names what they share.',
    output: relatedList,
    position: RELATED_POSITION,
    read: (directory, reader, actor, page) => relatedEntities(directory, reader, actor, page, WITH_LATEST_SOURCES),
    label: ['related actor', 'related actors'],
    line: relatedLine,
  });
}

function relatedLine({ entity, evidence }: Related): string {
  return `${actorLine(entity)}; shared ${evidence.slice(0, 3).map(({ kind, detail }) => `${kind} ${quoteText(detail)}`).join(', ')}`;
}

interface PartTool<Item> extends Pick<Tool, 'name' | 'title' | 'description' | 'output'> {
  /** The last segment of the path `/api/entities/{id}/…`. */
  part: string;
  position: PositionShape;
  read(context: DirectoryContext, reader: Reader, actor: ShownActor, page: Page): Promise<TextList>;
  label: [one: string, many: string];
  line(item: Item): string;
}

/** Returns a tool that lists what belongs to one actor. */
function partTool<Item>(context: DirectoryContext, { part, position, read, label, line, ...tool }: PartTool<Item>): Tool {
  const { civic } = context;
  return {
    ...tool,
    readOnly: true,
    destructive: false,
    input: Joi.object({ id, ...toolPaging }),
    advice: { unknown_actor: UNKNOWN_ACTOR, invalid_cursor: INVALID_CURSOR },
    async run({ id: actorId, ...query }: { id: string }, call) {
      const data = await readList<Item>({
        path: `/api/entities/${actorId}/${part}`, query, schema: partQuery, position,
        read: (page) => civic.db.snapshot(async (tx) => read(context, tx, await shownActor(tx, call.caller, actorId, civic.url), page)),
      }, call);
      return { data, text: summarizeList(label, data, data.data.map(line)) };
    },
  };
}

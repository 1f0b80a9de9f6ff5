import { fitData, fitText, Joi, resultBytes, singleLine, summarizeList, summaryTail, type Tool, type Truncation } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import type { CoverageSummary } from '../actors/coverage.ts';
import { WITH_LATEST_SOURCES } from '../actors/detail.ts';
import { placeCoverage, placeEntities, placeSourceList, type PlaceQuery } from '../actors/place-reads.ts';
import { coverageSchema, placeActorList, placeFilters, placeSourceListSchema, PLACE_SOURCE_POSITION } from '../actors/place-routes.ts';
import { positionShape } from '../actors/reads.ts';
import { toolPaging } from '../actors/schemas.ts';
import type { Coverage } from '../offered/reads.ts';
import { placeCandidates, placeOfPath } from '../places/routes.ts';
import { placeList, placeQuery, type PlaceCandidate, type PlaceQuery as PlaceSearch } from '../places/schemas.ts';
import type { Actor, Source } from '../types.ts';
import { INVALID_CURSOR, readList } from './list.ts';
import { actorLine, countOf, sourceLine } from './text.ts';

const UNKNOWN_PLACE = 'Call search_places with the name of the place, and use the place_key of the right candidate.';

const place_key = Joi.string().required().description('A key such as kansas-city,missouri, from search_places');
const entitiesQuery = Joi.object({ ...placeFilters, ...toolPaging });
const sourcesQuery = Joi.object(toolPaging);

type PlaceInput<Query = object> = { place_key: string } & Query;

export function placeTools(context: DirectoryContext): Tool[] {
  return [searchTool(context), entitiesTool(context), sourcesTool(context), coverageTool(context)];
}

function searchTool({ civic, places }: DirectoryContext): Tool {
  return {
    name: 'search_places',
    title: 'Find a place',
    description: [
      'Resolves free text ("Kansas City, MO", "KCMO", "St. Louis", a ZIP code) to places, likeliest first, each with its place_key and a confidence.',
      'When ambiguous is true, ask the user which place is meant. Call this first whenever another tool needs a place_key.',
    ].join(' '),
    readOnly: true,
    destructive: false,
    input: placeQuery,
    output: placeList,
    async run(search: PlaceSearch, { maxBytes }) {
      const data = fitData(await placeCandidates(places, civic.db, search), maxBytes);
      const question = data.ambiguous ? ['The text is ambiguous: ask the user which place is meant.'] : [];
      return { data, text: summarizeList(['place', 'places'], data, [...question, ...data.data.map(candidateLine)]) };
    },
  };
}

function entitiesTool(context: DirectoryContext): Tool {
  return {
    name: 'get_place_entities',
    title: 'List the actors of a place',
    description: 'Returns the civic actors of a place, each with its latest sources; issue_area, entity_type and query narrow the list.',
    readOnly: true,
    destructive: false,
    input: Joi.object({ place_key, ...placeFilters, ...toolPaging }),
    output: placeActorList,
    advice: { unknown_place: UNKNOWN_PLACE, invalid_cursor: INVALID_CURSOR, insufficient_scope: 'Leave visibility out: public actors need no scope.' },
    async run({ place_key: key, ...query }: PlaceInput<PlaceQuery>, call) {
      const place = await placeOfPath(context.places, context.civic.db, key);
      const data = await readList<Actor, PlaceQuery>({
        path: `/api/places/${place.place_key}/entities`, query, schema: entitiesQuery, position: positionShape,
        read: (page) => placeEntities(context, place, page, call.caller, WITH_LATEST_SOURCES),
      }, call);
      return { data, text: summarizeList([`actor in ${place.place_key}`, `actors in ${place.place_key}`], data, data.data.map(actorLine)) };
    },
  };
}

function sourcesTool(context: DirectoryContext): Tool {
  return {
    name: 'get_place_sources',
    title: 'List the sources of a place',
    description: 'Returns every source that a public actor of a place cites, the latest retrieved first.',
    readOnly: true,
    destructive: false,
    input: Joi.object({ place_key, ...toolPaging }),
    output: placeSourceListSchema,
    advice: { unknown_place: UNKNOWN_PLACE, invalid_cursor: INVALID_CURSOR },
    async run({ place_key: key, ...query }: PlaceInput, call) {
      const place = await placeOfPath(context.places, context.civic.db, key);
      const data = await readList<Source>({
        path: `/api/places/${place.place_key}/sources`, query, schema: sourcesQuery, position: PLACE_SOURCE_POSITION,
        read: (page) => placeSourceList(context, place, page),
      }, call);
      return { data, text: summarizeList([`source for ${place.place_key}`, `sources for ${place.place_key}`], data, data.data.map(sourceLine)) };
    },
  };
}

function coverageTool(context: DirectoryContext): Tool {
  return {
    name: 'get_place_coverage',
    title: 'Assess the coverage of a place',
    description: [
      'Returns what the directory has about a place and what is missing: numbers of actors and sources by type and issue area, and which issue areas are covered (three actors or more), thin or missing.',
      'A missing issue area means that nothing is recorded, not that no actor works on it.',
    ].join(' '),
    readOnly: true,
    destructive: false,
    input: Joi.object({ place_key }),
    output: coverageSchema,
    advice: { unknown_place: UNKNOWN_PLACE },
    async run({ place_key: key }: PlaceInput, { maxBytes }) {
      const place = await placeOfPath(context.places, context.civic.db, key);
      const { body, summary } = await placeCoverage(context, place);
      const name = context.places.recordOf(place).display_name;
      if (resultBytes(body) <= maxBytes) return { json: body, text: coverageText(name, summary), get data() { return JSON.parse(body) as Coverage; } };
      const data = fitData(JSON.parse(body) as Coverage, maxBytes);
      return { data, text: coverageText(name, summary, data.truncated) };
    },
  };
}

function candidateLine({ display_name, place_key: key, confidence }: PlaceCandidate): string {
  return `- ${singleLine(display_name)}: place_key ${singleLine(key, 200)}, confidence ${confidence}`;
}

function coverageText(name: string, { entity_count, source_count, by }: CoverageSummary, truncated?: Truncation[]): string {
  const areas = (label: string, slugs: string[]) => (slugs.length > 0 ? [`${label}: ${slugs.join(', ')}`] : []);
  return fitText([
    `${singleLine(name)}: ${countOf(entity_count, 'actor')}, ${countOf(source_count, 'source')}.`,
    ...areas('Covered', by.covered),
    ...areas('Thin', by.thin),
    ...areas('Missing', by.missing),
    'get_place_entities lists the actors with their sources, get_place_sources all sources.',
  ], summaryTail({ next_cursor: null, truncated }));
}

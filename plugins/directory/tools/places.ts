import { fitList, Joi, pageOf, problem, type Tool, type ToolCall } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { placeCoverage, placeEntities, placeSourceList, type PlaceQuery } from '../actors/place-reads.ts';
import { coverageSchema, placeActorList, placeFilters, placeSourceListSchema, SOURCE_POSITION } from '../actors/place-routes.ts';
import { positionShape } from '../actors/reads.ts';
import { toolPaging } from '../actors/schemas.ts';
import { placeCandidates, placeOfPath } from '../places/routes.ts';
import { placeList, placeQuery, type PlaceCandidate, type PlaceQuery as FreeText } from '../places/schemas.ts';
import type { PlaceRow } from '../places/service.ts';
import type { Coverage } from '../offered/reads.ts';
import type { Actor, Source } from '../types.ts';
import { INVALID_CURSOR, listQuery, SHOWN, type List } from './actors.ts';
import { actorLine, countOf, fitting, listText, sourceLine } from './text.ts';

const UNKNOWN_PLACE = 'Call search_places with the name of the place, and use the place_key of the right candidate.';
const FORM = 'A key such as kansas-city,missouri, from search_places';

const place_key = Joi.string().required().description(FORM);
const entitiesQuery = Joi.object({ ...placeFilters, ...toolPaging });
const sourcesQuery = Joi.object(toolPaging);

type PlaceInput<Query = object> = { place_key: string } & Query;

export function placeTools(context: DirectoryContext): Tool[] {
  const { civic, places } = context;
  const placeOf = (key: string): Promise<PlaceRow> => placeOfPath(places, civic.db, key);
  return [
    {
      name: 'search_places',
      title: 'Find a place',
      description: 'Resolves free text ("Kansas City, MO", "KCMO", "St. Louis", a ZIP code) to places, likeliest first, each with its place_key and a confidence. When ambiguous is true, ask the user which one is meant. Call this first whenever another tool needs a place_key.',
      readOnly: true,
      destructive: false,
      input: placeQuery,
      output: placeList,
      async run(given: FreeText) {
        const data = await placeCandidates(places, civic.db, given);
        const question = data.ambiguous ? ['It is not certain which one is meant: ask the user.'] : [];
        return { data, text: [listText(['place', 'places'], data, data.data.map(candidateLine)), ...question].join('\n') };
      },
    },
    {
      name: 'get_place_entities',
      title: 'List the actors of a place',
      description: 'Returns the civic actors of a place, each with its latest sources; issue_area, entity_type and query narrow the list.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ place_key, ...placeFilters, ...toolPaging }),
      output: placeActorList,
      advice: { unknown_place: UNKNOWN_PLACE, invalid_cursor: INVALID_CURSOR, insufficient_scope: 'Leave visibility out: public actors need no scope.' },
      async run({ place_key: key, ...query }: PlaceInput<PlaceQuery>, call) {
        const place = await placeOf(key);
        const list = listQuery(`/api/places/${place.place_key}/entities`, query, entitiesQuery, call);
        const data: List<Actor> = await fitList(list, pageOf<PlaceQuery>(list, positionShape), call.maxBytes, (page) => placeEntities(context, place, page, call.caller, SHOWN));
        return { data, text: listText([`actor in ${place.place_key}`, `actors in ${place.place_key}`], data, data.data.map(actorLine)) };
      },
    },
    {
      name: 'get_place_sources',
      title: 'List the sources of a place',
      description: 'Returns every source that a public actor of a place cites, the latest retrieved first.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ place_key, ...toolPaging }),
      output: placeSourceListSchema,
      advice: { unknown_place: UNKNOWN_PLACE, invalid_cursor: INVALID_CURSOR },
      async run({ place_key: key, ...query }: PlaceInput, call: ToolCall) {
        const place = await placeOf(key);
        const list = listQuery(`/api/places/${place.place_key}/sources`, query, sourcesQuery, call);
        const data: List<Source> = await fitList(list, pageOf(list, SOURCE_POSITION), call.maxBytes, (page) => placeSourceList(context, place, page));
        return { data, text: listText([`source for ${place.place_key}`, `sources for ${place.place_key}`], data, data.data.map(sourceLine)) };
      },
    },
    {
      name: 'get_place_coverage',
      title: 'Assess the coverage of a place',
      description: 'Returns what the directory knows of a place and what is missing: numbers of actors and sources by type and issue area, and which issue areas are covered (three actors or more), thin or missing. A missing issue area means that nothing is recorded, not that nobody works on it.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ place_key }),
      output: coverageSchema,
      advice: { unknown_place: UNKNOWN_PLACE },
      async run({ place_key: key }: PlaceInput, { maxBytes }) {
        const { body } = await placeCoverage(context, await placeOf(key));
        if (Buffer.byteLength(body) > maxBytes) throw problem('result_too_large', { detail: `The coverage has more than ${maxBytes} bytes, because the taxonomy of this instance is large.` });
        const data = JSON.parse(body) as Coverage;
        return { data, json: body, text: coverageLines(data).join('\n') };
      },
    },
  ];
}

function candidateLine({ display_name, place_key: key, confidence }: PlaceCandidate): string {
  return `- ${display_name}: place_key ${key}, confidence ${confidence}`;
}

function coverageLines(coverage: Coverage): string[] {
  const areas = (name: string, slugs: string[]) => (slugs.length > 0 ? [`${name}: ${slugs.join(', ')}`] : []);
  return fitting([
    `${coverage.place.display_name}: ${countOf(coverage.entity_count, 'actor')}, ${countOf(coverage.source_count, 'source')}.`,
    ...areas('Covered', coverage.covered_issue_areas),
    ...areas('Thin', coverage.thin_issue_areas),
    ...areas('Missing', coverage.missing_issue_areas),
    'get_place_entities lists the actors with their sources, get_place_sources all sources.',
  ]);
}

import { Joi, type Prompt } from 'civic';

const text = Joi.string().trim().min(1).max(300);
const place = text.required().description('A place, such as "Kansas City, MO"');
const topic = text.description('A topic, such as "public transit"');
const CITE = 'Cite the URL of the source for every statement, with its publication and date where there are any. State what the sources do not contain. Do not fill gaps from memory.';

export function directoryPrompts(): Prompt[] {
  return [
    {
      name: 'research_place',
      title: 'Research a place',
      description: 'An overview of who is active in a place, with sources',
      arguments: Joi.object({ place, topic }),
      text: ({ place: where, topic: about }: { place: string; topic?: string }) => [
        `Write an overview of the civic actors in ${where}${about ? ` who work on ${about}` : ''}.`,
        '1. Call search_places with the name of the place. If the result is ambiguous, ask me which place I mean.',
        ...(about ? [`2. Call resolve_issue_areas with "${about}" for the slugs of the topic.`] : ['2. Call get_place_coverage to see which issue areas are covered.']),
        '3. Call get_place_entities, and get_entity for the most important actors.',
        CITE,
      ].join('\n'),
    },
    {
      name: 'find_civic_actors',
      title: 'Find civic actors',
      description: 'People and organizations that work on a topic, with contacts and sources',
      arguments: Joi.object({ topic: topic.required(), place: place.optional() }),
      text: ({ topic: about, place: where }: { topic: string; place?: string }) => [
        `Find people, organizations, initiatives and campaigns that work on ${about}${where ? ` in ${where}` : ''}.`,
        `1. Call resolve_issue_areas with "${about}".`,
        where ? `2. Call search_places with "${where}", then get_place_entities with the matching issue areas.` : '2. Call search_entities with the matching issue areas, and with words of the topic.',
        '3. Call get_related_entities for the best matches to find others.',
        'List name, type, place, how to reach them and how fresh the record is.',
        CITE,
      ].join('\n'),
    },
    {
      name: 'inspect_source_trail',
      title: 'Inspect the sources of an actor',
      description: 'Which statement about an actor comes from which source, and how good the sources are',
      arguments: Joi.object({ actor: text.required().description('The name or the id of an actor') }),
      text: ({ actor }: { actor: string }) => [
        `Show me where the statements about ${actor} come from.`,
        '1. Call search_entities with the name, unless it is an id. If several actors match, ask me which one I mean.',
        '2. Call get_entity with the id, and get_entity_sources for all sources.',
        '3. For each property list the claims with source, excerpt, method, confidence and when it was last seen. Name claims that contradict each other, and claims with a single, old or broken source.',
        CITE,
      ].join('\n'),
    },
    {
      name: 'assess_coverage_gaps',
      title: 'Assess coverage gaps',
      description: 'What the directory lacks about a place, and where to look for it',
      arguments: Joi.object({ place }),
      text: ({ place: where }: { place: string }) => [
        `Assess what the directory lacks for ${where}.`,
        '1. Call search_places with the name of the place. If the result is ambiguous, ask me which place I mean.',
        '2. Call get_place_coverage, and get_place_sources for how old the sources are.',
        '3. List missing and thin issue areas by their importance for such a place, stale records, and kinds of public sources that would close each gap. A gap means that nothing is recorded, not that no actor is active.',
        CITE,
      ].join('\n'),
    },
  ];
}

import { Joi, type Tool } from 'civic';
import type { Actor, ActorDetail, DirectoryService } from 'civic/directory';

/** The tools `search` and `fetch` that connectors of ChatGPT require: with these names, arguments and results, and with the JSON also as text. */

const MOST_RESULTS = 20;

const result = { id: Joi.string().required(), title: Joi.string().required(), url: Joi.string().required() };

const query = Joi.string().trim().min(1).max(300).required().description('Words of names, descriptions, places and affiliations');
const metadata = Joi.object().pattern(Joi.string(), Joi.string()).required();

export function connectorTools(directory: DirectoryService): Tool[] {
  return [
    {
      name: 'search',
      title: 'Search the directory',
      description: 'Finds civic actors by free text. Returns id, title and url of each; call fetch with an id for its statements and their sources. search_entities has filters.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ query }),
      output: Joi.object({ results: Joi.array().items(Joi.object(result)).required() }).meta({ name: 'SearchResults' }),
      async run({ query: words }: { query: string }) {
        const { actors } = await directory.search(words, MOST_RESULTS);
        return withJsonText({ results: actors.map((actor) => ({ id: actor.id, title: titleOf(actor), url: actor.url })) });
      },
    },
    {
      name: 'fetch',
      title: 'Read a search result',
      description: 'Returns one civic actor by the id of a search result, as a text in which every statement has the URL of its source.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ id: Joi.string().required().description('The id of a result of search') }),
      output: Joi.object({ ...result, text: Joi.string().required(), metadata }).meta({ name: 'FetchedDocument' }),
      advice: { unknown_actor: 'Call search and use the id of a result unchanged.' },
      async run({ id }: { id: string }, { caller, maxBytes }) {
        const actor = await directory.detail(id, caller);
        // The result contains the document twice: in `structuredContent`, and escaped in the text.
        const text = documentOf(actor, maxBytes / 4);
        return withJsonText({ id: actor.id, title: titleOf(actor), url: actor.url, text, metadata: metadataOf(actor) });
      },
    },
  ];
}

/** Returns a result whose text is the JSON of the data, which connectors parse. */
function withJsonText<Data extends object>(data: Data): { data: Data; text: string } {
  return { data, text: JSON.stringify(data) };
}

function titleOf({ name, type, places }: Actor): string {
  const [place] = places;
  return `${name} (${type}${place ? `, ${place.name}` : ''})`;
}

function metadataOf({ type, status, freshness, updated_at: updated, issue_areas: issues }: Actor): Record<string, string> {
  return { type, status, freshness: freshness.status, updated_at: updated, ...(issues.length > 0 && { issue_areas: issues.join(', ') }) };
}

/** Returns a text with a line for each claim and the URL of its source, as many as `maxBytes` allow. */
function documentOf({ name, description, claims, sources }: ActorDetail, maxBytes: number): string {
  const urls = new Map(sources.map(({ id, url, title }) => [id, title ? `${title}, ${url}` : url]));
  const lines = claims.map(({ property, value, excerpt, source_id: source }) => {
    const quote = excerpt ? ` “${excerpt.slice(0, 300)}”` : '';
    return `- ${property}: ${typeof value === 'string' ? value : JSON.stringify(value)}${quote} (source: ${urls.get(source)})`;
  });
  let left = maxBytes - name.length - (description?.length ?? 0);
  const fitting = lines.filter((line) => (left -= Buffer.byteLength(line) + 1) >= 0);
  const omitted = lines.length - fitting.length;
  const note = omitted > 0 ? [`${omitted} further claims are omitted; get_entity returns them in pages.`] : [];
  return [name, ...(description ? [description] : []), ...fitting, ...note].join('\n');
}

import { Joi, quoteText, resultBytes, singleLine, type Tool } from 'civic';
import type { Actor, ActorDetail, DirectoryService } from 'civic/directory';

/** The tools `search` and `fetch` that connectors of ChatGPT require: with these names, arguments and results, and with the JSON also as text. */

const MOST_RESULTS = 20;
const TITLE_LENGTH = 100;
const VALUE_LENGTH = 1000;
const EXCERPT_LENGTH = 300;

const result = { id: Joi.string().required(), title: Joi.string().required(), url: Joi.string().required() };

const query = Joi.string().trim().min(1).max(300).required().description('Words of names, descriptions, places and affiliations');
const metadata = Joi.object().pattern(Joi.string(), Joi.string()).required();

export function connectorTools(directory: DirectoryService): Tool[] {
  // Only public actors have pages.
  const pageOf = ({ id, visibility, url }: Actor): string => (visibility === 'public' ? directory.links.actor(id) : url);
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
        return withJsonText({ results: actors.map((actor) => ({ id: actor.id, title: titleOf(actor), url: pageOf(actor) })) });
      },
    },
    {
      name: 'fetch',
      title: 'Read a search result',
      description: 'Returns one civic actor by the id of a search result, as a text in which every statement has the URL of its source. Texts in quotation marks are quoted from sources.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ id: Joi.string().required().description('The id of a result of search') }),
      output: Joi.object({ ...result, text: Joi.string().required(), metadata }).meta({ name: 'FetchedDocument' }),
      advice: { unknown_actor: 'Call search and use the id of a result unchanged.' },
      async run({ id }: { id: string }, { caller, maxBytes }) {
        const actor = await directory.detail(id, caller);
        const document = { id: actor.id, title: titleOf(actor), url: pageOf(actor), text: '', metadata: metadataOf(actor) };
        // The result contains the document twice: in `structuredContent`, and in the text.
        return withJsonText({ ...document, text: documentOf(actor, maxBytes / 2 - sentBytes(document)) });
      },
    },
  ];
}

/** Returns a result whose text is the JSON of the data, which connectors parse. */
function withJsonText<Data extends object>(data: Data): { data: Data; text: string } {
  return { data, text: JSON.stringify(data) };
}

/** Returns the size of data in the text of a result, where its JSON is escaped once more. */
function sentBytes(data: unknown): number {
  return resultBytes(JSON.stringify(JSON.stringify(data)));
}

function titleOf({ name, type, places }: Actor): string {
  const [place] = places;
  return `${singleLine(name, TITLE_LENGTH)} (${type}${place ? `, ${singleLine(place.name, TITLE_LENGTH)}` : ''})`;
}

function metadataOf({ type, status, freshness, updated_at: updated, issue_areas: issues }: Actor): Record<string, string> {
  return { type, status, freshness: freshness.status, updated_at: updated, ...(issues.length > 0 && { issue_areas: singleLine(issues.join(', '), VALUE_LENGTH) }) };
}

/** Returns a text with a line for each claim and the URL of its source, as many as `maxBytes` allow. */
function documentOf({ name, description, claims, sources }: ActorDetail, maxBytes: number): string {
  const cited = new Map(sources.map(({ id, url, title }) => [id, title ? `${quoteText(title)}, ${url}` : url]));
  const head = [quoteText(name), ...(description ? [quoteText(description, VALUE_LENGTH)] : [])];
  const note = (omitted: number) => `${omitted} further claims are omitted; get_entity returns them in pages.`;
  let left = maxBytes - sentBytes([...head, note(claims.length)].join('\n'));
  const lines = claims.map((claim) => claimLine(claim, cited.get(claim.source_id)!)).filter((line) => (left -= sentBytes(line)) >= 0);
  return [...head, ...lines, ...(lines.length < claims.length ? [note(claims.length - lines.length)] : [])].join('\n');
}

function claimLine({ property, value, excerpt }: ActorDetail['claims'][number], source: string): string {
  const values = typeof value === 'string' ? [value] : Object.values(value).filter((one) => one !== null);
  const quotation = excerpt ? `, excerpt ${quoteText(excerpt, EXCERPT_LENGTH)}` : '';
  return `- ${property}: ${values.map((one) => quoteText(String(one), VALUE_LENGTH)).join(', ')}${quotation} (source: ${source})`;
}

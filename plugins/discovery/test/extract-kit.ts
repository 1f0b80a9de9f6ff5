import { definePlugin, type Services } from 'civic';
import type { Document, DocumentInput } from 'civic/reader';
import { testServer } from 'civic/testing';
import { extractActors } from '../extract/extract.ts';
import { foldName } from '../extract/text.ts';
import type { FoundActor, FoundClaim, FoundType } from '../extract/types.ts';

export interface Extraction {
  read(html: string, input?: Partial<DocumentInput>): Promise<Document>;
  /** Parses a page as the reader does and extracts its actors; checks that each claim has a passage of the text. */
  extract(html: string, input?: Partial<DocumentInput>): Promise<{ document: Document; actors: FoundActor[] }>;
  close(): Promise<void>;
}

/** Starts the reader, whose documents the extractor gets. */
export async function startExtraction(): Promise<Extraction> {
  let service: Services['reader'];
  const user = definePlugin({ name: 'listener', summary: 'Reads documents for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { service = civic.service('reader'); } }) });
  const kit = await testServer({ plugins: ['reader', user] });
  const read: Extraction['read'] = (html, input = {}) => service.document({ url: 'https://www.example.org/page', content_type: 'text/html; charset=utf-8', body: Buffer.from(html), ...input });
  const extract: Extraction['extract'] = async (html, input) => {
    const document = await read(html, input);
    const actors = extractActors(document);
    for (const { name, claims } of actors) {
      if (!claims.some((claim) => claim.property === 'name' && claim.value === name)) throw new Error(`${name} has no claim of the name`);
      for (const claim of claims) if (!isStated(claim, document)) throw new Error(`The ${claim.property} of ${name} has no passage that states it`);
    }
    return { document, actors };
  };
  return { read, extract, close: () => kit.close() };
}

/** Whether the passage of a claim states its value: in words, or as the text of a link to it. */
function isStated({ property, value, start, end }: FoundClaim, { text, links }: Document): boolean {
  if (!(start >= 0 && start < end && end <= text.length)) return false;
  const passage = text.slice(start, end);
  const isLinkTo = (url: string) => links.some((link) => link.start === start && link.end === end && link.url.includes(url));
  switch (property) {
    case 'event_start': case 'event_end': return true;
    case 'website': return isLinkTo(value);
    case 'social': return isLinkTo(value.url);
    case 'email': return passage.toLowerCase() === value || isLinkTo(value);
    case 'identifier': return passage.includes(value.value);
    case 'affiliation': return passage.includes(value.role ?? value.name);
    default: return foldName(passage) === foldName(value);
  }
}

/** Returns the names of a type with at least a score, in alphabetical order. */
export function namesOf(actors: FoundActor[], type: FoundType, score = 0.5): string[] {
  return actors.filter((actor) => actor.type === type && actor.score >= score).map(({ name }) => name).toSorted();
}

/** Returns the values of a property of an actor. */
export function valuesOf(actors: FoundActor[], name: string, property: string): unknown[] {
  return actors.find((actor) => actor.name === name)?.claims.filter((claim) => claim.property === property).map(({ value }) => value) ?? [];
}

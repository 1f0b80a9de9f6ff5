import { createHash } from 'node:crypto';
import { cutText, indexOfWords, passageAround, type Passage } from 'civic';
import type { ClaimDraft, SourceDraft } from 'civic/directory';
import type { Finding } from 'civic/discovery';
import type { Row, Vote } from '../adapters/types.ts';
import { publicUrl } from './clean.ts';

/** A document that a read used, with the text that passages are ranges of. */
export interface ReadDocument {
  url: string;
  content_hash: string;
  text: string;
}

export interface ActorContext {
  source: { name: string; place: { key: string; name: string } | null; isGovernment: boolean };
  /** The page of the source, then the further documents that were opened. */
  documents: ReadDocument[];
  retrieved_at: string;
}

interface Named {
  type: 'person' | 'organization';
  name: string;
  /** The body that a person votes or files in. */
  body: string | null;
  score: number;
}

const LONGEST_NAME = 200;
/** Of one read; further ones are proposed when their rows change. */
const MOST_NAMED = 500;
/** Platforms state names in fields of their own, so that few are wrong. A body can be the department that entered a meeting, and a post can name anything. */
const SCORES = { person: 0.95, body: 0.9, post: 0.8 };

/** Returns the people and bodies that rows name, each with the passage of the first document that has the name. */
export function actorsIn(rows: Row[], context: ActorContext): Finding[] {
  const named = new Map<string, Named>();
  for (const one of rows.flatMap(namedIn)) {
    const key = `${one.type} ${one.name}`;
    if (isName(one.name) && !named.has(key) && named.size < MOST_NAMED) named.set(key, one);
  }
  return [...named.values()].flatMap((one) => findingOf(one, context) ?? []);
}

function namedIn(row: Row): Named[] {
  if (row.kind === 'page') return [];
  if (row.kind === 'post') return (row.actors ?? []).map(({ name }) => ({ type: 'organization', name, body: null, score: SCORES.post }));
  const votes = (list: Vote[] | null, body: string | null): Named[] => (list ?? []).map(({ person }) => ({ type: 'person', name: person, body, score: SCORES.person }));
  const bodies = (...names: (string | null)[]): Named[] => names.flatMap((name) => (name === null ? [] : [{ type: 'organization' as const, name, body: null, score: SCORES.body }]));
  if (row.kind === 'meeting') return [...bodies(row.body), ...(row.items ?? []).flatMap((item) => votes(item.votes, row.body))];
  const actions = row.actions ?? [];
  return [
    ...bodies(row.body, ...actions.map(({ body }) => body)),
    ...(row.sponsors ?? []).map((name) => ({ type: 'person' as const, name, body: row.body, score: SCORES.person })),
    ...actions.flatMap((action) => votes(action.votes, action.body)),
  ];
}

/** Whether a text can be a name: platforms list notes such as "(by request of the Mayor)" among sponsors, and addresses among organizers. */
function isName(text: string): boolean {
  return text.length >= 3 && text.length <= LONGEST_NAME && /^\p{Lu}/u.test(text) && /\p{L}{2}/u.test(text) && !/[@\n<>{}]|https?:/i.test(text);
}

/** A name that no document has as it stands, such as one that an adapter composed, has no evidence: it is left out. */
function findingOf({ type, name, body, score }: Named, { source, documents, retrieved_at }: ActorContext): Finding | null {
  const found = passageOf(name, documents);
  if (!found) return null;
  const { document } = found;
  const cited: SourceDraft = {
    local_id: createHash('sha256').update(document.url).digest('hex').slice(0, 16), url: publicUrl(document.url), title: cutText(source.name, 500), ...(source.isGovernment && { kind: 'government_record' as const }),
    retrieved_at, content_hash: document.content_hash,
  };
  const claim = (property: ClaimDraft['property'], value: ClaimDraft['value'], { excerpt, locator }: Pick<Passage, 'excerpt' | 'locator'>): ClaimDraft => ({
    property, value, source_local_id: cited.local_id, excerpt, locator, confidence: score, method: 'structured',
  });
  // Who added the source stated its place; the document need not.
  const placeFound = source.place && passageOf(source.place.name, [document]);
  const bodyFound = body === null ? null : passageOf(body, [document]);
  return {
    type, score, sources: [cited],
    claims: [
      claim('name', name, found),
      ...(placeFound ? [claim('place', source.place!.key, placeFound)] : []),
      ...(bodyFound ? [claim('affiliation', { entity_id: null, name: body!, role: null, since: null, until: null }, bodyFound)] : []),
    ],
  };
}

function passageOf(name: string, documents: ReadDocument[]): Passage & { document: ReadDocument } | null {
  for (const document of documents) {
    const at = indexOfWords(document.text, name);
    const passage = at < 0 ? null : passageAround(document.text, at, at + name.length);
    if (passage) return { document, ...passage };
  }
  return null;
}

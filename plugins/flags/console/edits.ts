import { foldText, isId, problem, singleLine } from 'civic';
import type { ActorDetail, Claim, ClaimValues, Edit, Property } from 'civic/directory';
import type { Flags } from '../flags.ts';
import { textField } from './page.ts';

/** The corrections that a reviewer can choose on the page of a report. */
export const EDIT_KINDS = { entity: ['none', 'value', 'retract', 'hide', 'merge', 'deactivate', 'source_broken'], source: ['none', 'source_broken'], place: ['none'] } as const;
export type EditKind = (typeof EDIT_KINDS)['entity'][number];

/** Properties whose value is one text, so that a statement can be added without one that it replaces. */
export const TEXT_PROPERTIES = ['name', 'description', 'place', 'issue_area', 'website', 'email', 'phone', 'event_start', 'event_end', 'event_location'] as const satisfies readonly Property[];

/** Those of them that only events have. */
export const EVENT_PROPERTIES: readonly Property[] = ['event_start', 'event_end', 'event_location'];

/** The id of the new source inside an edit. */
const SOURCE = 's';
const LONGEST_VALUE = 2000;

/** Returns the value of the field `statement` that adds a statement. */
export function additionId(property: (typeof TEXT_PROPERTIES)[number]): string {
  return `new:${property}`;
}

/** What is corrected: a public actor as it is now, or a source. */
export interface Subject {
  actor: ActorDetail | null;
  /** The sources that can be marked as broken. */
  sourceIds: string[];
}

/**
 * Returns the edit that a form describes; null for none. Throws `invalid_request` for a field that is missing or names nothing; the directory checks
 * the rest when the edit is applied.
 */
export async function editOf(flags: Flags, subject: Subject, payload: unknown): Promise<Edit | null> {
  const kind = textField(payload, 'edit') || 'none';
  if (kind === 'none') return null;
  if (kind === 'source_broken') return { kind, id: oneOf(subject.sourceIds, textField(payload, 'source'), 'queue.faults.source') };
  const { actor } = subject;
  if (!actor || !EDIT_KINDS.entity.some((one) => one === kind)) throw fault('queue.faults.kind');
  if (kind === 'merge') return { kind, id: actor.id, into: entryId(textField(payload, 'into')), reason: textField(payload, 'note') || null };
  if (kind === 'deactivate') return { kind: 'change', id: actor.id, ...added('status', 'inactive', addressIn(payload)), retract: withValue(actor, 'status', 'active') };
  const statement = textField(payload, 'statement');
  const claim = actor.claims.find(({ id }) => id === statement) ?? null;
  if (kind === 'retract' || kind === 'hide') {
    if (!claim) throw fault('queue.faults.statement');
    return { kind: 'change', id: actor.id, sources: [], add: [], retract: [], [kind]: withValue(actor, claim.property, claim.value) };
  }
  const property = claim?.property ?? TEXT_PROPERTIES.find((one) => additionId(one) === statement);
  if (!property) throw fault('queue.faults.statement');
  const value = await valueOf(flags, property, claim, textField(payload, 'value').slice(0, LONGEST_VALUE));
  const isKept = textField(payload, 'keep') !== '' || claim === null;
  return { kind: 'change', id: actor.id, ...added(property, value, addressIn(payload)), retract: isKept ? [] : withValue(actor, claim.property, claim.value) };
}

/** Returns an error whose message is a key of the texts, with the values of the text. */
export function fault(key: string, values: Record<string, string> = {}): Error {
  return problem('invalid_request', { detail: key, extra: { values } });
}

function oneOf(values: string[], given: string, key: string): string {
  if (!values.includes(given)) throw fault(key);
  return given;
}

/** Reads the id of an entry, or the address of its page. */
function entryId(text: string): string {
  const id = text.split(/[/?#]/).find((part) => isId(part));
  if (id === undefined) throw fault('queue.faults.into');
  return id.toLowerCase();
}

function addressIn(payload: unknown): string {
  const address = textField(payload, 'address');
  if (!/^https?:\/\/\S+$/i.test(address)) throw fault('queue.faults.address');
  return address;
}

function added(property: Property, value: unknown, url: string): Pick<Edit & { kind: 'change' }, 'sources' | 'add'> {
  return { sources: [{ local_id: SOURCE, url }], add: [{ property, value: value as string, source_local_id: SOURCE, method: 'manual' }] };
}

/** Returns all claims with a value: the statement stays as long as one of them does. */
function withValue(actor: ActorDetail, property: Property, value: unknown): string[] {
  const wanted = JSON.stringify(value);
  return actor.claims.filter((claim) => claim.property === property && JSON.stringify(claim.value) === wanted).map(({ id }) => id);
}

/** Converts a text to the value of a property: names of places and issues to their keys; of a composed value it replaces the main part. */
async function valueOf({ civic, directory }: Flags, property: Property, claim: Claim | null, text: string): Promise<unknown> {
  if (text === '') throw fault('queue.faults.value');
  if (property === 'place') {
    const key = await directory.placeKey(civic.db.read, text);
    const { place, candidates } = key === null ? await directory.resolvePlace(civic.db.read, text) : { place: { place_key: key }, candidates: [] };
    if (!place) throw fault('queue.faults.place', { text: singleLine(text, 80), candidates: candidates.map(({ place_key }) => place_key).join('; ') || '–' });
    return place.place_key;
  }
  if (property === 'issue_area') {
    if (directory.issueName(text) !== null) return text;
    const found = (await directory.issuesLike(text, 5, ({ name }) => name)).find(({ name }) => foldText(name) === foldText(text));
    if (!found) throw fault('queue.faults.issue', { text: singleLine(text, 80) });
    return found.slug;
  }
  if (property === 'social') return { ...claim!.value as ClaimValues['social'], url: text };
  if (property === 'identifier') return { ...claim!.value as ClaimValues['identifier'], value: text };
  if (property === 'affiliation') return { ...claim!.value as ClaimValues['affiliation'], entity_id: null, name: text };
  return text;
}

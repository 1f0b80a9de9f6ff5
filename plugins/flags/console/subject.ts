import type { Reader, Texts } from 'civic';
import type { Claim, Source } from 'civic/directory';
import type { Flags } from '../flags.ts';
import { placeNames, statementsOf, valueText, type Choice } from '../pages/statements.ts';
import { holdsOfFlags } from '../privacy/store.ts';
import type { FlagRow } from '../store.ts';
import { additionId, EVENT_PROPERTIES, TEXT_PROPERTIES, type Subject } from './edits.ts';

/** The target of a report as it is now. */
export interface ShownSubject extends Subject {
  name: string;
  href: string | null;
  /** Whether the target was deleted or is no longer public, so that nothing can be corrected. */
  isGone: boolean;
  /** Whether the reported actor was merged; the subject is the actor that it is part of now. */
  isMerged: boolean;
  /** Until when the e-mail and phone are hidden. */
  heldUntil: string | null;
  /** Whether the report hid the e-mail and phone, and they are shown again before its decision. */
  isHoldOver: boolean;
  isPlace: boolean;
  statement: ShownStatement | null;
  source: ShownSource | null;
  sources: Choice[];
  /** The statements that can be corrected, each value once. */
  statements: Choice[];
  /** The properties for which a new statement can be added. */
  additions: Choice[];
}

interface ShownStatement {
  property: string;
  value: string;
  claim: Claim;
  source: ShownSource | null;
}

type ShownSource = Source & { isBroken: boolean };

const shownSource = (source: Source | undefined): ShownSource | null => (source ? { ...source, isBroken: source.url_status === 'broken' } : null);

/** Returns a source without its excerpt when the statement shows the same one. */
function withoutExcerpt(source: ShownSource | null, excerpt: string | null): ShownSource | null {
  return source && { ...source, excerpt: source.excerpt === excerpt ? null : source.excerpt };
}

export async function subjectOf(flags: Flags, reader: Reader, flag: FlagRow, t: Texts): Promise<ShownSubject> {
  if (flag.target_type === 'place') return placeSubject(flags, reader, flag);
  return flag.target_type === 'source' ? sourceSubject(flags, reader, flag) : actorSubject(flags, reader, flag, t);
}

async function actorSubject({ directory }: Flags, reader: Reader, flag: FlagRow, t: Texts): Promise<ShownSubject> {
  const first = await directory.entry(flag.target_id);
  const found = first?.state === 'merged' ? await directory.entry(first.into) : first;
  if (found?.state !== 'current') return emptySubject(flag.target_id);
  // Reviewers see and correct what a privacy report hides for the time being.
  const held = await directory.heldContacts(reader, found.actor.id);
  const actor = held ? { ...found.actor, claims: [...found.actor.claims, ...held.claims] } : found.actor;
  const claim = actor.claims.find(({ id }) => id === flag.claim_id);
  return {
    ...emptySubject(actor.name), isGone: false, isMerged: first?.state === 'merged', actor, heldUntil: held?.ends_at ?? null, isHoldOver: held === null && await wasHeld(reader, flag) && actor.claims.some(({ property }) => property === 'email' || property === 'phone'), href: directory.links.pages.actor?.(actor.id) ?? null,
    sourceIds: actor.sources.map(({ id }) => id),
    sources: actor.sources.map(({ id, title, url }) => ({ id, text: title ?? url })),
    statement: claim ? {
      property: t(`properties.${claim.property}`), value: valueText(claim, directory, placeNames(actor), t), claim,
      source: withoutExcerpt(shownSource(actor.sources.find(({ id }) => id === claim.source_id)), claim.excerpt),
    } : null,
    statements: statementsOf(actor, directory, t),
    additions: TEXT_PROPERTIES.filter((property) => actor.type === 'event' || !EVENT_PROPERTIES.includes(property)).map((property) => ({ id: additionId(property), text: t('queue.new_statement', { property: t(`properties.${property}`) }) })),
  };
}

/** Whether the report hid contacts, and waits for its decision. */
async function wasHeld(reader: Reader, { key, status }: FlagRow): Promise<boolean> {
  return (status === 'open' || status === 'accepted') && (await holdsOfFlags(reader, [key])).length > 0;
}

async function sourceSubject({ directory }: Flags, reader: Reader, flag: FlagRow): Promise<ShownSubject> {
  const source = await directory.source(reader, flag.target_id);
  if (!source) return emptySubject(flag.target_id);
  const name = source.title ?? source.url;
  return { ...emptySubject(name), isGone: false, href: directory.links.pages.source?.(source.id) ?? null, source: shownSource(source), sourceIds: [source.id], sources: [{ id: source.id, text: name }] };
}

async function placeSubject({ directory }: Flags, reader: Reader, flag: FlagRow): Promise<ShownSubject> {
  const place = (await directory.places(reader, [flag.target_id])).get(flag.target_id);
  if (!place) return emptySubject(flag.target_id);
  return { ...emptySubject(place.display_name), isGone: false, isPlace: true, href: directory.links.pages.place?.(place.place_key) ?? null };
}

/** Returns the subject of a report whose target is gone. */
function emptySubject(name: string): ShownSubject {
  return { name, href: null, isGone: true, isMerged: false, heldUntil: null, isHoldOver: false, isPlace: false, actor: null, statement: null, source: null, sourceIds: [], sources: [], statements: [], additions: [] };
}

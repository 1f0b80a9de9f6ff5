import type { Reader, Texts } from 'civic';
import type { ActorDetail, Claim, Source } from 'civic/directory';
import type { Flags } from '../flags.ts';
import { valueText } from '../pages/statements.ts';
import type { FlagRow } from '../store.ts';
import { TEXT_PROPERTIES, type Subject } from './edits.ts';

/** The target of a report as it is now. */
export interface ShownSubject extends Subject {
  name: string;
  href: string | null;
  /** Why nothing can be corrected here; null when it can. */
  gone: 'deleted' | null;
  mergedInto: boolean;
  /** Until when the e-mail and phone are hidden. */
  heldUntil: string | null;
  isPlace: boolean;
  statement: ShownStatement | null;
  source: ShownSource | null;
  sources: { id: string; text: string }[];
  /** The statements that can be corrected, each value once. */
  choices: { id: string; text: string }[];
  news: { id: string; text: string }[];
}

interface ShownStatement {
  property: string;
  value: string;
  claim: Claim;
  source: ShownSource | null;
}

type ShownSource = Source & { isBroken: boolean };

const shownSource = (source: Source | undefined): ShownSource | null => (source ? { ...source, isBroken: source.url_status === 'broken' } : null);

export async function subjectOf(flags: Flags, reader: Reader, flag: FlagRow, t: Texts): Promise<ShownSubject> {
  if (flag.target_type === 'place') return placeSubject(flags, reader, flag);
  return flag.target_type === 'source' ? sourceSubject(flags, reader, flag) : actorSubject(flags, reader, flag, t);
}

async function actorSubject(flags: Flags, reader: Reader, flag: FlagRow, t: Texts): Promise<ShownSubject> {
  const { directory } = flags;
  const first = await directory.entry(flag.target_id);
  const found = first?.state === 'merged' ? await directory.entry(first.into) : first;
  if (found?.state !== 'current') return nothing(flag.target_id);
  // Reviewers see and correct what a privacy report hides for the time being.
  const held = await directory.heldContacts(reader, found.actor.id);
  const actor = held ? { ...found.actor, claims: [...found.actor.claims, ...held.claims] } : found.actor;
  const statements = statementsOf(actor, flags, t);
  const claim = actor.claims.find(({ id }) => id === flag.claim_id);
  return {
    ...nothing(actor.name), actor, gone: null, mergedInto: first?.state === 'merged', heldUntil: held?.ends_at ?? null, href: directory.links.pages.actor?.(actor.id) ?? null,
    sourceIds: actor.sources.map(({ id }) => id), sources: actor.sources.map((source) => ({ id: source.id, text: source.title ?? source.url })),
    statement: claim ? { property: t(`properties.${claim.property}`), value: valueText(claim, directory, placeNames(actor)), claim, source: shownSource(actor.sources.find(({ id }) => id === claim.source_id)) } : null,
    choices: statements, news: TEXT_PROPERTIES.map((property) => ({ id: `new:${property}`, text: t('queue.new_statement', { property: t(`properties.${property}`) }) })),
  };
}

async function sourceSubject({ directory }: Flags, reader: Reader, flag: FlagRow): Promise<ShownSubject> {
  const source = await directory.source(reader, flag.target_id);
  if (!source) return nothing(flag.target_id);
  const name = source.title ?? source.url;
  return { ...nothing(name), gone: null, href: directory.links.pages.source?.(source.id) ?? null, source: shownSource(source), sourceIds: [source.id], sources: [{ id: source.id, text: name }] };
}

async function placeSubject({ directory }: Flags, reader: Reader, flag: FlagRow): Promise<ShownSubject> {
  const place = (await directory.places(reader, [flag.target_id])).get(flag.target_id);
  if (!place) return nothing(flag.target_id);
  return { ...nothing(place.display_name), gone: null, isPlace: true, href: directory.links.pages.place?.(place.place_key) ?? null };
}

function nothing(name: string): ShownSubject {
  return { name, href: null, gone: 'deleted', mergedInto: false, heldUntil: null, isPlace: false, actor: null, statement: null, source: null, sourceIds: [], sources: [], choices: [], news: [] };
}

const placeNames = (actor: ActorDetail) => new Map(actor.places.map(({ place_key, name }) => [place_key, name]));

function statementsOf(actor: ActorDetail, { directory }: Flags, t: Texts): { id: string; text: string }[] {
  const names = placeNames(actor);
  const choices = new Map<string, { id: string; text: string }>();
  for (const claim of actor.claims) {
    const text = `${t(`properties.${claim.property}`)}: ${valueText(claim, directory, names)}`;
    if (!choices.has(text)) choices.set(text, { id: claim.id, text });
  }
  return [...choices.values()];
}

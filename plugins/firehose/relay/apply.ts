import { isDeepValue, TOO_DEEP, type Clock, type Logger, type Tx } from 'civic';
import type { Terms } from '../query/terms.ts';
import { NoSignal, type SignalKinds } from '../signals/kinds.ts';
import type { Publisher } from '../signals/publish.ts';
import { relayedSchema } from '../signals/schemas.ts';
import type { Signal, SignalDraft } from '../types.ts';
import { firstPublishedHere, presentSignals } from './store.ts';

/** A version of a signal, or its end, as another instance told it. */
export interface Heard {
  event_id: string;
  signal: Signal;
  isRetracted: boolean;
}

export interface ApplyContext {
  publisher: Publisher;
  terms: Terms;
  kinds: SignalKinds;
  /** Those that the log named already. */
  unknownTypes: Set<string>;
  log: Logger;
  clock: Clock;
  /** The address of the instance that is followed, and our own. */
  url: string;
  ownUrl: string;
}

/** How far the clock of the other instance may be ahead. */
const SKEW_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const MOST_TYPES_LOGGED = 100;

/** Tells here what was heard there, in its order. Answers how much of it was new. */
export async function applyHeard(context: ApplyContext, tx: Tx, heard: Heard[]): Promise<number> {
  const readable = heard.filter((one) => !isDeepValue(one.signal) || leaveOut(context, one, `it ${TOO_DEEP}`));
  const named = readable.filter((one) => isNamed(one) || leaveOut(context, one, 'it has no id'));
  const known = await presentSignals(tx, [...new Set(named.map(({ signal }) => signal.id))]);
  const own = await firstPublishedHere(tx, named.map(({ signal }) => signal.id).filter((id) => !known.has(id)));
  let told = 0;
  for (const one of named) {
    const present = known.get(one.signal.id);
    if (own.has(one.signal.id) || isOurs(context, one.signal, present)) continue;
    // Another origin's signal: only that origin changes it.
    if (present && present.origin?.url !== context.url) continue;
    if (one.isRetracted) {
      if (!present) continue;
      await context.publisher.withdraw(tx, [one.signal.id]);
      known.delete(one.signal.id);
      told++;
    } else if (await publishVersion(context, tx, one, known)) {
      told++;
    }
  }
  return told;
}

/** In the one form that ids have here: Postgres would find a signal of ours under others too. */
function isNamed({ signal }: Heard): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(signal?.id));
}

function leaveOut({ log, url }: ApplyContext, { event_id }: Heard, reason: string): false {
  log.warn({ origin: url, event_id, reason }, 'A signal of the instance that is followed was left out: it is of no form known here');
  return false;
}

/** Facts of an unknown type cannot be validated, and clients do not find the type in the contracts here. */
function leaveOutType({ log, url, unknownTypes }: ApplyContext, type: string): false {
  if (unknownTypes.has(type) || unknownTypes.size >= MOST_TYPES_LOGGED) return false;
  unknownTypes.add(type);
  log.warn({ origin: url, type }, 'Signals of the instance that is followed are left out: no plugin here declares their type');
  return false;
}

/** Whether this instance published the signal first: the relay skips it, so that cycles end. */
function isOurs({ ownUrl }: ApplyContext, { origin }: Signal, present: Signal | undefined): boolean {
  return origin?.url === ownUrl || present?.origin === null;
}

async function publishVersion(context: ApplyContext, tx: Tx, one: Heard, known: Map<string, Signal>): Promise<boolean> {
  const { signal, event_id } = one;
  // An origin that the signal claims is not proven: the instance that is followed answers for it.
  const { value, error } = relayedSchema.validate({ ...signal, origin: { url: context.url, event_id } }, { convert: false, stripUnknown: true });
  if (error) return leaveOut(context, one, error.message);
  const draft = value as SignalDraft & Omit<Signal, 'places'>;
  if (!context.kinds.of(draft.type)) return leaveOutType(context, draft.type);
  const late = futureTime(draft, context.clock.now());
  if (late) return leaveOut(context, one, `${late} is in the future`);
  const places = await context.terms.canonicalPlaces(tx, draft.places ?? []);
  try {
    draft.facts = context.kinds.relayedFacts(draft);
    if (isSame({ ...draft, places }, known.get(draft.id))) return false;
    await context.publisher.publish(tx, [draft]);
  } catch (fault) {
    if (fault instanceof NoSignal) return leaveOut(context, one, fault.message);
    throw fault;
  }
  known.set(draft.id, { ...draft, places });
  return true;
}

/** Returns the name of the first time in the future, which would stay the latest. `occurred_at` may be in the future. */
function futureTime({ detected_at, evidence }: SignalDraft, now: number): string | null {
  const isLate = (time: string | null | undefined, most: number) => Boolean(time) && Date.parse(time!) > now + most;
  if (isLate(detected_at, SKEW_MS)) return 'detected_at';
  if (evidence.some(({ captured_at }) => isLate(captured_at, SKEW_MS))) return 'captured_at';
  return evidence.some(({ published_at }) => isLate(published_at, DAY_MS)) ? 'published_at' : null;
}

function isSame(signal: Signal, known: Signal | undefined): boolean {
  return known !== undefined && JSON.stringify({ ...signal, origin: null }) === JSON.stringify({ ...known, origin: null });
}

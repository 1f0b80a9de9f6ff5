import { EXTERNAL_SKEW_MS, jsonValueFault, type Clock, type Logger, type Tx } from 'civic';
import type { Terms } from '../query/terms.ts';
import { NoSignal, type SignalKinds } from '../signals/kinds.ts';
import type { Publisher } from '../signals/publish.ts';
import { relayedSchema } from '../signals/schemas.ts';
import type { Signal, SignalDraft } from '../types.ts';
import { firstPublishedHere, presentSignals } from './store.ts';

/** A version of a signal, or its retraction, from the followed instance. */
export interface Received {
  event_id: string;
  signal: Signal;
  isRetracted: boolean;
}

export interface ApplyContext {
  publisher: Publisher;
  terms: Terms;
  kinds: SignalKinds;
  /** Types that were logged already. */
  unknownTypes: Set<string>;
  log: Logger;
  clock: Clock;
  /** The address of the instance that is followed, and our own. */
  url: string;
  ownUrl: string;
}

const DAY_MS = 86_400_000;
const MOST_TYPES_LOGGED = 100;

/** Publishes received signals in their order. Returns how many of them were new. */
export async function applyReceived(context: ApplyContext, tx: Tx, received: Received[]): Promise<number> {
  const readable = received.filter((one) => {
    const fault = jsonValueFault(one.signal);
    return fault === null || leaveOut(context, one, `it ${fault}`);
  });
  const named = readable.filter((one) => isNamed(one) || leaveOut(context, one, 'it has no id'));
  const known = await presentSignals(tx, [...new Set(named.map(({ signal }) => signal.id))]);
  const own = await firstPublishedHere(tx, named.map(({ signal }) => signal.id).filter((id) => !known.has(id)));
  let published = 0;
  for (const one of named) {
    const present = known.get(one.signal.id);
    if (own.has(one.signal.id) || isOurs(context, one.signal, present)) continue;
    // Another origin's signal: only that origin changes it.
    if (present && present.origin?.url !== context.url) continue;
    if (one.isRetracted) {
      if (!present) continue;
      await context.publisher.withdraw(tx, [one.signal.id]);
      known.delete(one.signal.id);
      published++;
    } else if (await publishVersion(context, tx, one, known)) {
      published++;
    }
  }
  return published;
}

/** Accepts ids in lower case only: Postgres would also find a signal of this instance by other spellings. */
function isNamed({ signal }: Received): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(signal?.id));
}

function leaveOut({ log, url }: ApplyContext, { event_id }: Received, reason: string): false {
  log.warn({ origin: url, event_id, reason }, 'A signal of the followed instance was left out: it is invalid');
  return false;
}

/** Facts of an unknown type cannot be validated, and clients do not find the type in the contracts here. */
function leaveOutType({ log, url, unknownTypes }: ApplyContext, type: string): false {
  if (unknownTypes.has(type) || unknownTypes.size >= MOST_TYPES_LOGGED) return false;
  unknownTypes.add(type);
  log.warn({ origin: url, type }, 'Signals of the followed instance are left out: no plugin here declares their type');
  return false;
}

/** Whether this instance published the signal first: the relay skips it, so that cycles end. */
function isOurs({ ownUrl }: ApplyContext, { origin }: Signal, present: Signal | undefined): boolean {
  return origin?.url === ownUrl || present?.origin === null;
}

async function publishVersion(context: ApplyContext, tx: Tx, one: Received, known: Map<string, Signal>): Promise<boolean> {
  const { signal, event_id } = one;
  // The origin that a signal states is not proven, so the followed instance is stored as its origin.
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
  if (isLate(detected_at, EXTERNAL_SKEW_MS)) return 'detected_at';
  if (evidence.some(({ captured_at }) => isLate(captured_at, EXTERNAL_SKEW_MS))) return 'captured_at';
  return evidence.some(({ published_at }) => isLate(published_at, DAY_MS)) ? 'published_at' : null;
}

function isSame(signal: Signal, known: Signal | undefined): boolean {
  return known !== undefined && JSON.stringify({ ...signal, origin: null }) === JSON.stringify({ ...known, origin: null });
}

import { afterCommit, newId, type Clock, type Tx } from 'civic';
import { queryFieldsOf } from '../log/fields.ts';
import type { Log } from '../log/log.ts';
import type { Terms } from '../query/terms.ts';
import type { Evidence, FirehoseService, Signal, SignalActor, SignalDraft } from '../types.ts';
import { NoSignal, type SignalKinds } from './kinds.ts';
import { draftSchema } from './schemas.ts';

export interface PublishContext {
  clock: Clock;
  log: Log;
  terms: Terms;
  kinds: SignalKinds;
  /** Called after the commit. */
  onPublished(count: number): void;
}

export type Publisher = Pick<FirehoseService, 'produces' | 'signalTypes' | 'publish' | 'withdraw'>;

const MOST_BYTES = 64 * 1024;

export function createPublisher({ clock, log, terms, kinds, onPublished }: PublishContext): Publisher {
  async function signalOf(tx: Tx, given: SignalDraft): Promise<Signal> {
    const { error, value } = draftSchema.validate(given, { convert: false });
    const draft = value as SignalDraft;
    if (error) throw new NoSignal(`Invalid signal: ${error.message}`);
    if (draft.visibility === 'workspace' && !draft.workspace_id) throw new NoSignal('Invalid signal: a signal for a workspace needs a "workspace_id"');
    const facts = kinds.checkedFacts(draft);
    if (!kinds.isAnnounced(draft.type)) throw new Error(`The type ${draft.type} is not announced: call produces(['${draft.type}']) in register`);
    return completed({ ...draft, facts }, await terms.canonicalPlaces(tx, draft.places ?? []), clock.iso());
  }

  return {
    produces: kinds.produce,
    signalTypes: kinds.declare,
    async publish(tx, drafts) {
      const signals = [];
      for (const draft of drafts) signals.push({ signal: await signalOf(tx, draft), workspaceId: draft.workspace_id ?? null, is_new: draft.id === undefined });
      await log.append(tx, signals.map(({ signal, workspaceId, is_new }) => ({
        signal_id: signal.id, is_new, facts: JSON.stringify(queryFieldsOf(signal, workspaceId)), signal: textOf(signal),
      })));
      afterCommit(tx, () => onPublished(signals.length));
      return signals.map(({ signal }) => signal.id);
    },
    withdraw: (tx, ids) => log.append(tx, ids.map((signal_id) => ({ signal_id, is_new: false, facts: null, signal: null }))),
  };
}

function textOf(signal: Signal): string {
  const text = JSON.stringify(signal);
  // Relays add `origin`; without it the size is the same on every instance.
  if (Buffer.byteLength(text) - Buffer.byteLength(JSON.stringify(signal.origin)) > MOST_BYTES) throw new NoSignal(`The signal "${signal.title}" is larger than ${MOST_BYTES / 1024} kB`);
  return text;
}

function completed(draft: SignalDraft, places: string[], now: string): Signal {
  const confidence = draft.confidence ?? 1;
  return {
    id: draft.id ?? newId(),
    type: draft.type,
    title: draft.title,
    summary: draft.summary ?? null,
    occurred_at: draft.occurred_at ?? null,
    detected_at: draft.detected_at ?? now,
    places,
    issues: [...new Set(draft.issues ?? [])],
    actors: (draft.actors ?? []).map((actor): SignalActor => ({ id: actor.id ?? null, name: actor.name, type: actor.type, role: actor.role ?? null })),
    source_class: draft.source_class,
    confidence,
    relevance: draft.relevance ?? confidence,
    review_state: draft.review_state ?? 'not_required',
    visibility: draft.visibility ?? 'public',
    evidence: draft.evidence.map(completedEvidence),
    changes: draft.changes ?? [],
    ...(draft.facts && { facts: draft.facts }),
    supersedes: draft.supersedes ?? null,
    origin: draft.origin ?? null,
  };
}

function completedEvidence(given: SignalDraft['evidence'][number]): Evidence {
  return {
    source_id: given.source_id ?? null, source_url: given.source_url, title: given.title ?? null, publisher: given.publisher ?? null,
    published_at: given.published_at ?? null, captured_at: given.captured_at ?? null, passage: given.passage ?? null,
    locator: given.locator ?? null, content_hash: given.content_hash ?? null,
  };
}

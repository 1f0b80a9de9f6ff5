import { problem, type Caller, type Reader } from 'civic';
import { createHash } from 'node:crypto';
import type { Query } from '../types.ts';
import { detectedBounds, filterOf, type Filter } from './filter.ts';
import type { Terms } from './terms.ts';
import { audiencesFor } from './visibility.ts';

export interface WorkspaceName {
  id: string;
  name: string;
}

/** Somebody's query, understood and allowed. */
export interface Subscription {
  /** In its one form: the same question asked in other words is the same. */
  query: Query;
  filter: Filter;
  /** Whose use is metered; null for nobody. */
  workspace: WorkspaceName | null;
  /** Names the question, whoever asks. */
  fingerprint: string;
  /** Equal for those who are told the same bytes. */
  key: string;
}

export interface SubscriptionContext {
  terms: Terms;
  partners: ReadonlySet<string>;
  workspaceName(reader: Reader, caller: Caller): Promise<string>;
}

export type Subscribe = (reader: Reader, query: Query, caller: Caller | null) => Promise<Subscription>;

export function createSubscribe({ terms, partners, workspaceName }: SubscriptionContext): Subscribe {
  return async (reader, given, caller) => {
    checkVisibility(given, caller, partners);
    const places = await terms.canonicalPlaces(reader, given.places);
    const query: Query = {
      ...given,
      places: places.sort(), issues: sorted(given.issues), actor_types: sorted(given.actor_types), signal_types: sorted(given.signal_types), source_classes: sorted(given.source_classes),
    };
    const audiences = audiencesFor(query.visibility, caller);
    const workspace = caller?.workspace_id ? { id: caller.workspace_id, name: await workspaceName(reader, caller) } : null;
    const { cursor: _cursor, ...question } = query;
    const asked = JSON.stringify(question);
    return {
      query, workspace,
      filter: filterOf(query, { places, issues: terms.issues(query.issues), audiences }),
      fingerprint: `fq_${hash(asked)}`,
      key: hash(JSON.stringify([asked, audiences, workspace])),
    };
  };
}

/** Streams follow the log: where pages begin and how they are sorted means nothing to them. */
export function asStream(subscription: Subscription): Subscription {
  return subscription.filter.time === 'detected' ? subscription : { ...subscription, filter: { ...subscription.filter, ...detectedBounds(subscription.query) }, key: `${subscription.key} by detection` };
}

function checkVisibility({ visibility }: Query, caller: Caller | null, partners: ReadonlySet<string>): void {
  if (visibility === 'public') return;
  if (!caller) throw problem('authentication_required', { detail: `Without an API key only visibility=public can be read, not ${visibility}.` });
  if (visibility === 'partner' && !(caller.workspace_id && partners.has(caller.workspace_id))) {
    throw problem('visibility_forbidden', { detail: 'Signals for partners are for workspaces that the operator named as partners; yours is not among them.' });
  }
  if (visibility === 'reviewer' && caller.role === 'user') {
    throw problem('visibility_forbidden', { detail: 'Signals held for review are for reviewers of this instance.' });
  }
}

function sorted<Word extends string>(words: Word[]): Word[] {
  return [...new Set(words)].sort();
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

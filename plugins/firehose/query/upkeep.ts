import type { SignalKinds } from '../signals/kinds.ts';
import type { Subscription } from './subscription.ts';

/** Returns a subscription without signals about the upkeep of the directory, such as counted sources. */
export function withoutUpkeep(all: Subscription, kinds: SignalKinds): Subscription {
  return { ...all, filter: { ...all.filter, exceptTypes: new Set(kinds.upkeep()) }, key: `${all.key} without upkeep` };
}

/** Returns a subscription with those signals only. */
export function upkeepOnly(all: Subscription, kinds: SignalKinds): Subscription {
  return { ...all, filter: { ...all.filter, types: new Set(kinds.upkeep()) }, key: `${all.key} upkeep` };
}

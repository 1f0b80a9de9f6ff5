import type { SignalKinds } from '../signals/kinds.ts';
import type { Signal, SourceClass } from '../types.ts';
import type { Subscription } from './subscription.ts';

/** Signals about sources are upkeep when the directory itself reports them. What changes on a public page or in a feed is news. */
const OWN_CLASSES: ReadonlySet<SourceClass> = new Set(['directory', 'discovery_run', 'review']);

/** Returns whether a signal is about the upkeep of the directory. */
export function isUpkeep({ type, source_class: sourceClass }: Pick<Signal, 'type' | 'source_class'>, kinds: SignalKinds): boolean {
  return OWN_CLASSES.has(sourceClass) && kinds.upkeep().includes(type);
}

/** Returns a subscription without signals about the upkeep of the directory, such as counted sources. */
export function withoutUpkeep(all: Subscription, kinds: SignalKinds): Subscription {
  return { ...all, filter: { ...all.filter, except: { types: new Set(kinds.upkeep()), classes: OWN_CLASSES } }, key: `${all.key} without upkeep` };
}

/** Returns a subscription with those signals only. */
export function upkeepOnly(all: Subscription, kinds: SignalKinds): Subscription {
  return { ...all, filter: { ...all.filter, types: new Set(kinds.upkeep()), classes: OWN_CLASSES }, key: `${all.key} upkeep` };
}

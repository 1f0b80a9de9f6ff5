import { SIGNAL_TYPES } from '../types.ts';
import { relayCheck } from './check.ts';
import { createRelay, type RelayContext } from './relay.ts';

/** Follows another instance, where the config names one. It may tell signals of every type. */
export function declareRelay(context: RelayContext): { start(): void; stop(): Promise<void> } {
  const { civic, publisher } = context;
  if (civic.config.relay.url === null) return { start: () => undefined, stop: async () => undefined };
  const relay = createRelay(context);
  publisher.produces(SIGNAL_TYPES);
  civic.check(relayCheck(relay.url, civic.clock, () => civic.db));
  civic.metric({ name: 'relay_behind', help: 'Lines of the log of the instance that is followed that were not read yet, as far as this node knows', value: () => relay.figures().behind });
  civic.metric({ name: 'relayed_total', help: 'Versions and retractions of signals published here from another instance', value: () => relay.figures().published });
  return relay;
}

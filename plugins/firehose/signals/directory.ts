import type { Firehose } from '../service.ts';
import { tellChange, type TellingContext } from './changes.ts';
import { demoPart } from '../demo/part.ts';
import { freshnessJob } from './freshness.ts';
import { forgetToldBefore } from './told-store.ts';
import { SIGNAL_TYPES } from '../types.ts';

/** What the directory makes true becomes signals, when it is on. */
export function tellDirectory({ civic, publisher, kinds }: Firehose): void {
  const directory = civic.serviceIfOn('directory');
  if (!directory) return;
  const context: TellingContext = { directory, publisher, url: civic.url, instance: civic.instance };
  publisher.produces(['actor_discovered', 'actor_merged', 'new_source', 'freshness_change', 'coverage_gap']);
  civic.on('directory.actors_changed', (tx, event) => tellChange(context, tx, event));
  civic.jobs.define(freshnessJob(context, civic.clock));
  civic.jobs.define({
    name: 'firehose.forget',
    every_seconds: 86_400,
    run: (job) => job.write((tx) => forgetToldBefore(tx, new Date(civic.clock.now() - civic.config.retention_days * 86_400_000).toISOString())),
  });
  directory.demo.contribute(demoPart({ civic, directory, publisher, kinds }));
  if (directory.demo.isOn) publisher.produces(SIGNAL_TYPES);
}

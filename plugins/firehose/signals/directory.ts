import type { Firehose } from '../service.ts';
import { publishActorChanges, type DirectorySignalsContext } from './changes.ts';
import { demoPart } from '../demo/part.ts';
import { freshnessJob } from './freshness.ts';
import { deletePublishedBefore } from './published-store.ts';
import { SIGNAL_TYPES } from '../types.ts';

/** Publishes signals about changes of the directory, when it is on. */
export function publishDirectorySignals({ civic, publisher, kinds }: Firehose): void {
  const directory = civic.serviceIfOn('directory');
  if (!directory) return;
  const context: DirectorySignalsContext = { directory, publisher, url: civic.url, instance: civic.instance };
  publisher.produces(['actor_discovered', 'actor_merged', 'new_source', 'freshness_change', 'coverage_gap']);
  civic.on('directory.actors_changed', (tx, event) => publishActorChanges(context, tx, event));
  civic.jobs.define(freshnessJob(context, civic.clock));
  civic.jobs.define({
    name: 'firehose.forget',
    every_seconds: 86_400,
    run: (job) => job.write((tx) => deletePublishedBefore(tx, new Date(civic.clock.now() - civic.config.retention_days * 86_400_000).toISOString())),
  });
  directory.demo.contribute(demoPart({ civic, directory, publisher, kinds }));
  if (directory.demo.isOn) publisher.produces(SIGNAL_TYPES);
}

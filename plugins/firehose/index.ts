import { definePlugin } from 'civic';
import { firehoseOptions, type FirehoseConfig } from './config.ts';
import { createFirehose } from './service.ts';

export type * from './types.ts';

export default definePlugin<FirehoseConfig>({
  name: 'firehose',
  summary: 'A live, durable log of civic signals: snapshots, event streams, sessions and sockets',
  config: firehoseOptions,
  uses: ['accounts', 'directory'],
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const firehose = createFirehose(civic);
    civic.provide(firehose.publisher);
    civic.jobs.define({ name: 'firehose.prune', every_seconds: 3600, run: async () => { await firehose.log.prune(); } });
    return {
      start: firehose.start,
      stop: firehose.stop,
      rebuild: firehose.rebuild,
    };
  },
});

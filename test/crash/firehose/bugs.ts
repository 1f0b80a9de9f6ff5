import type { Replacement } from './copy.ts';

/** A heart that beats all the time instead of every 15 s, so that a short run hears it. */
export const QUICK_HEART: Replacement[] = [
  { file: 'plugins/firehose/stream/hub.js', text: 'const TICK_MS = 1000;', by: 'const TICK_MS = 50;' },
  { file: 'plugins/firehose/stream/hub.js', text: 'const HEARTBEAT_MS = 15_000;', by: 'const HEARTBEAT_MS = 100;' },
];

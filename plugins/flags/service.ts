import type { Tx } from 'civic';
import type { PluginFlag } from './flags.ts';

/** The service of this plugin for other plugins. */
export interface FlagsService {
  /**
   * Flags a public source on behalf of a plugin, in its transaction. Returns the id of the flag: while the plugin has the same one open, that of the open one.
   * Null when no public actor cites the source: reviewers of the instance learn nothing about private sources.
   */
  report(tx: Tx, flag: PluginFlag): Promise<string | null>;
  /** Ends a flag because what it reports is no longer so: an open one is dismissed, an accepted one resolved. A flag that a reviewer has dismissed or resolved stays. */
  settle(tx: Tx, flagId: string, note: string): Promise<void>;
}

declare module 'civic' {
  interface Services { flags: FlagsService }
}

import type { FollowedEntry, LogFollowing, Signal } from '../types.ts';
import type { Audience } from '../query/visibility.ts';
import type { Entry, Log, Version } from './log.ts';

const WORKSPACE = 'workspace:';

/** Returns the reads of the log for plugins that follow it. */
export function createFollowing(log: Pick<Log, 'position' | 'read' | 'onEntries'>): LogFollowing {
  return {
    position: log.position,
    entries: async (after, limit) => (await log.read(after, limit)).map(followedEntry),
    onEntries: (listener) => log.onEntries(() => listener()),
  };
}

function followedEntry({ seq, now, before }: Entry): FollowedEntry {
  const isShown = now !== null && (now.fields.audience === 'public' || now.fields.audience.startsWith(WORKSPACE));
  return {
    seq,
    signal_id: idOf(now ?? before),
    isUpdate: before !== null,
    signal: isShown ? signalOf(now) : null,
    workspace_id: isShown ? workspaceOf(now.fields.audience) : null,
  };
}

/** Withdrawing an id that is unknown adds an entry without a version. */
function idOf(version: Version | null): string | null {
  return version && signalOf(version).id;
}

function signalOf({ json }: Version): Signal {
  return JSON.parse(json) as Signal;
}

function workspaceOf(audience: Audience): string | null {
  return audience.startsWith(WORKSPACE) ? audience.slice(WORKSPACE.length) : null;
}

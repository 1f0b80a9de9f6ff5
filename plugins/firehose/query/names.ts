import type { Caller, Clock, Reader } from 'civic';

type NameOf = (reader: Reader, caller: Caller) => Promise<string>;

const KEPT_MS = 60_000;
const MOST = 10_000;

/** Names of workspaces, kept a minute: they stand in every message, and change hardly ever. */
export function createNames(ask: NameOf, clock: Clock): NameOf {
  const known = new Map<string, { name: string; until: number }>();
  return async (reader, caller) => {
    const key = `${caller.account_id} ${caller.workspace_id}`;
    const kept = known.get(key);
    if (kept && kept.until > clock.now() && kept.until <= clock.now() + KEPT_MS) return kept.name;
    const name = await ask(reader, caller);
    if (known.size >= MOST) known.delete(known.keys().next().value!);
    known.set(key, { name, until: clock.now() + KEPT_MS });
    return name;
  };
}

import type { Civic } from 'civic';
import { lastAccessChange } from '../audit/store.ts';

/** Credentials that were valid, by their id, until access changes on any node. */
export interface CredentialCache<Value> {
  /** Undefined when the entry is unknown, or may be older than a change on another node. */
  get(id: string): Value | undefined;
  /** Returns the entry, or what `load` returns. The result is stored if `isKept` allows it and access has not changed meanwhile. */
  load(id: string, load: () => Promise<Value>, isKept?: (value: Value) => boolean): Promise<Value>;
  size(): number;
}

/** All caches of callers in this process. They share one check for changes. */
export interface CredentialCaches {
  create<Value>(): CredentialCache<Value>;
  /** Empties every cache. */
  forget(): void;
}

export interface CachesContext {
  civic: { readonly db: Civic['db'] };
  /** The audit kinds after which an account may do more or less. */
  changingAccess(): string[];
}

const MOST = 10_000;
/** Another node's revocation takes effect here within a second. */
const CHECK_EVERY_MS = 700;

export function createCaches({ civic, changingAccess }: CachesContext): CredentialCaches {
  const caches: Map<string, unknown>[] = [];
  let generation = 0;
  let seen = 0;
  let checkedAt = -Infinity;
  let checking: Promise<void> | null = null;

  function forget(): void {
    for (const cache of caches) cache.clear();
    generation++;
  }

  /** A SQLite file belongs to one process, which receives every change. */
  function isUpToDate(): boolean {
    return civic.db.dialect === 'sqlite' || performance.now() - checkedAt < CHECK_EVERY_MS;
  }

  async function check(): Promise<void> {
    const started = performance.now();
    const last = await lastAccessChange(civic.db.read, seen, changingAccess());
    if (last > seen) {
      seen = last;
      forget();
    }
    checkedAt = started;
  }

  return {
    forget,
    create<Value>(): CredentialCache<Value> {
      const known = new Map<string, Value>();
      caches.push(known);
      return {
        get: (id) => (isUpToDate() ? known.get(id) : undefined),
        async load(id, load, isKept = () => true) {
          if (!isUpToDate()) await (checking ??= check().finally(() => { checking = null; }));
          const found = known.get(id);
          if (found !== undefined) return found;
          const before = generation;
          const value = await load();
          if (before === generation && isKept(value)) {
            if (known.size >= MOST) known.delete(known.keys().next().value!);
            known.set(id, value);
          }
          return value;
        },
        size: () => known.size,
      };
    },
  };
}

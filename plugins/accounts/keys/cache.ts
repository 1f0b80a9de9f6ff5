import type { Civic } from 'civic';
import { lastAccessChange } from '../audit/store.ts';

/** Valid credentials by id, cached until access changes on any node. */
export interface CredentialCache<Value> {
  /** Returns undefined when there is no entry, or when another node may have changed access since. */
  get(id: string): Value | undefined;
  /** Returns the entry, or the result of `load`. Stores the result if `isKept` returns true and access has not changed meanwhile. */
  load(id: string, load: () => Promise<Value>, isKept?: (value: Value) => boolean): Promise<Value>;
  size(): number;
}

/** All credential caches of this process. They share one query for changes. */
export interface CredentialCaches {
  create<Value>(): CredentialCache<Value>;
  /** Empties every cache. */
  forget(): void;
}

export interface CachesContext {
  civic: { readonly db: Civic['db'] };
  /** The audit kinds that change access. */
  changingAccess(): string[];
}

const MOST = 10_000;
/** A revocation on another node takes effect within a second. */
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

  /** On SQLite all changes are made by this process, which empties the caches itself. */
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

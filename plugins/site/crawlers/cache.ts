/** A cache of values that are costly to create, by name. Values expire, only one is created at a time, and the oldest are evicted when the cache is full. */
export interface CostlyCache {
  get(name: string, create: () => Promise<Buffer>): Promise<Buffer>;
}

interface Entry {
  until: number;
  value: Promise<Buffer>;
  bytes: number;
}

export function costlyCache({ maxBytes, maxAgeMs, now }: { maxBytes: number; maxAgeMs: number; now(): number }): CostlyCache {
  const entries = new Map<string, Entry>();
  let last: Promise<unknown> = Promise.resolve();

  /** Creates a value after the previous one, so that many requests do not run at the same time. */
  function inTurn(create: () => Promise<Buffer>): Promise<Buffer> {
    const value = last.then(create);
    last = value.catch(() => undefined);
    return value;
  }

  function makeRoom(): void {
    let sum = [...entries.values()].reduce((total, { bytes }) => total + bytes, 0);
    for (const [name, { bytes }] of entries) {
      if (sum <= maxBytes) return;
      entries.delete(name);
      sum -= bytes;
    }
  }

  return {
    get(name, create) {
      const known = entries.get(name);
      if (known && now() < known.until && known.until <= now() + maxAgeMs) return known.value;
      const entry: Entry = { until: now() + maxAgeMs, value: inTurn(create), bytes: 0 };
      entries.delete(name);
      entries.set(name, entry);
      entry.value.then(({ length }) => {
        entry.bytes = length;
        makeRoom();
      }, () => { if (entries.get(name) === entry) entries.delete(name); });
      return entry.value;
    },
  };
}

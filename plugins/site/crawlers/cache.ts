/** Values that are costly to create, by name. Each is created once for a while, one at a time, and the oldest make room for new ones. */
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

  /** Waits for the creation before, so that many requests cost no more than one at a time. */
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

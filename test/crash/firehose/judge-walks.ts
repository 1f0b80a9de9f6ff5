import { deliveryOf, matches, sortKey, type Line, type Version } from './model.ts';
import type { Page, Walk } from './snapshots.ts';

type Present = Map<string, Version>;

function firstPageFaults(page: Page, { query }: Walk, found: Version[]): string[] {
  const keys = found.map((version) => sortKey(version, query.sort)).sort((a, b) => b - a);
  const byHash = new Map(found.map((version) => [version.hash, version]));
  const foreign = page.items.filter(({ hash }) => !byHash.has(hash));
  const latest = found.reduce<string | null>((most, { signal }) => (most === null || signal.detected_at > most ? signal.detected_at : most), null);
  const shown = page.items.flatMap(({ hash }) => (byHash.has(hash) ? [sortKey(byHash.get(hash)!, query.sort)] : []));
  return [
    ...(foreign.length > 0 ? [`${foreign.length} signals do not belong there`] : []),
    ...(page.total === found.length ? [] : [`${page.total} signals in all, not ${found.length}`]),
    ...(page.latest === latest ? [] : [`the latest is of ${page.latest}, not ${latest}`]),
    ...(page.items.length === Math.min(query.limit, found.length) ? [] : [`${page.items.length} signals on a page of ${query.limit} with ${found.length} in all`]),
    ...(page.hasNext === found.length > query.limit ? [] : ['whether there is more is wrong']),
    ...(shown.every((key, index) => key === keys[index]) ? [] : [`not in the order of ${query.sort}`]),
  ];
}

/** What was there unchanged from the first page to the last is found exactly once, in order. */
function walkFaults(walk: Walk, states: Present[]): string[] {
  if (walk.pages.length < 2 || !walk.isWhole) return [];
  const { query, asker, pages } = walk;
  const first = states[0]!;
  const last = states.at(-1)!;
  const steady = [...first].filter(([id, version]) => last.get(id)?.hash === version.hash && matches(version, query, asker)).map(([, version]) => version);
  const counts = new Map<string, number>();
  for (const { hash } of pages.flatMap(({ items }) => items)) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  const lost = steady.filter(({ hash }) => !counts.has(hash));
  const doubled = steady.filter(({ hash }) => (counts.get(hash) ?? 0) > 1);
  const foreign = pages.flatMap(({ items }, index) => items.filter(({ id, hash }) => {
    const version = states[index]!.get(id);
    return !version || version.hash !== hash || !matches(version, query, asker);
  }));
  return [
    ...(lost.length > 0 ? [`${lost.length} of ${steady.length} that were there all the time are on none of ${pages.length} pages`] : []),
    ...(doubled.length > 0 ? [`${doubled.length} that did not change are on two of ${pages.length} pages`] : []),
    ...(foreign.length > 0 ? [`${foreign.length} on ${pages.length} pages do not belong there`] : []),
  ];
}

/** Snapshots against the state of the log that each names. */
export function judgeWalks(walks: Walk[], lines: Line[]): string[] {
  const wanted = walks.flatMap((walk, index) => walk.pages.map((page, number) => ({ index, number, seq: page.seq }))).sort((a, b) => a.seq - b.seq);
  const states: Present[][] = walks.map(() => []);
  const faults: string[] = [];
  const present: Present = new Map();
  let line = 0;
  let copy: Present = new Map();
  let isCopied = true;
  for (const { index, number, seq } of wanted) {
    for (; line < lines.length && lines[line]!.seq <= seq; line++) {
      const { signalId, now } = lines[line]!;
      if (now) present.set(signalId, now);
      else present.delete(signalId);
      isCopied = false;
    }
    const { asker, query, pages } = walks[index]!;
    if (number === 0) {
      const found = [...present.values()].filter((version) => matches(version, query, asker));
      faults.push(...firstPageFaults(pages[0]!, walks[index]!, found).map((fault) => `a snapshot of ${asker.name} at ${seq} (${JSON.stringify(query)}): ${fault}`));
    }
    if (pages.length > 1) {
      if (!isCopied) copy = new Map(present);
      isCopied = true;
      states[index]![number] = copy;
    }
  }
  walks.forEach((walk, index) => { faults.push(...walkFaults(walk, states[index]!).map((fault) => `pages of ${walk.asker.name} (${JSON.stringify(walk.query)}): ${fault}`)); });
  return [...faults, ...judgeTags(walks, lines)];
}

/** An equal tag stands for an equal result, and changes with nothing but the result. */
function judgeTags(walks: Walk[], lines: Line[]): string[] {
  const groups = new Map<string, Walk[]>();
  for (const walk of walks.filter(({ pages }) => pages.length > 0)) {
    const address = JSON.stringify([walk.asker.name, walk.query]);
    groups.set(address, [...groups.get(address) ?? [], walk]);
  }
  return [...groups.values()].flatMap((group) => {
    const { asker, query } = group[0]!;
    const pages = group.map((walk) => walk.pages[0]!).sort((a, b) => a.seq - b.seq);
    const touching = lines.filter((line) => deliveryOf(line, query, asker) !== null).map(({ seq }) => seq);
    return pages.slice(1).flatMap((page, index) => {
      const before = pages[index]!;
      const words = `the tag of ${asker.name} (${JSON.stringify(query)}) between ${before.seq} and ${page.seq}`;
      if (page.etag === before.etag && page.result !== before.result) return [`${words}: the result changed, the tag did not`];
      const isTouched = touching.some((seq) => seq > before.seq && seq <= page.seq);
      return !isTouched && page.etag !== before.etag ? [`${words}: nothing changed but the tag`] : [];
    });
  });
}

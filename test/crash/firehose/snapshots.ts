import { setTimeout as sleep } from 'node:timers/promises';
import type { Query, Signal } from '../../../plugins/firehose/types.ts';
import type { Asker } from './askers.ts';
import type { Contract } from './contract.ts';
import { moment, parametersOf, randomDraft, randomQuery, SORTS, withEnd } from './drafts.ts';
import { hashOf } from './model.ts';
import type { Nodes, ServerNode } from './nodes.ts';
import type { Random } from './random.ts';

/** A page as it was answered. */
export interface Page {
  /** The log's head when it was read. */
  seq: number;
  lastEventId: string;
  etag: string;
  items: { id: string; hash: string }[];
  total: number;
  latest: string | null;
  hasNext: boolean;
  /** Of everything that is the result. */
  result: string;
}

/** A query as it was answered, page after page, while others wrote. */
export interface Walk {
  asker: Asker;
  query: Query;
  pages: Page[];
  /** Up to the last page. */
  isWhole: boolean;
}

export function seqOf(eventId: string): number {
  return Number(eventId.slice(eventId.lastIndexOf('-') + 1));
}

export function keyHeader({ key }: Asker): Record<string, string> {
  return key === null ? {} : { 'x-api-key': key };
}

export interface Asking {
  contract: Contract;
  faults: string[];
  asker: Asker;
  query: Query;
}

interface Answer {
  page: Page;
  next: string | null;
}

/** Null when the node went away, or when nothing has changed. */
export async function askPage(node: ServerNode, { contract, faults, asker, query }: Asking, cursor: string | null, headers: Record<string, string> = {}): Promise<Answer | 304 | null> {
  const url = `${node.url}/api/firehose?${cursor === null ? parametersOf(query, false) : new URLSearchParams({ cursor, limit: String(query.limit) })}`;
  let answer: Response;
  let body: any;
  try {
    answer = await fetch(url, { headers: { ...keyHeader(asker), ...headers } });
    if (answer.status === 304) return 304;
    body = await answer.json();
  } catch {
    await sleep(20);
    return null;
  }
  if (answer.status !== 200) {
    if (answer.status !== 503 || !node.isStopping) faults.push(`a snapshot was answered ${answer.status}: ${JSON.stringify(body).slice(0, 300)}`);
    return null;
  }
  const fault = contract.snapshotFault(body);
  if (fault) faults.push(fault);
  const signals = body.signals as Signal[];
  const { total_signals: total, latest_detected_at: latest } = body.summary;
  return {
    next: body.next_cursor,
    page: {
      seq: seqOf(body.last_event_id), lastEventId: body.last_event_id, etag: answer.headers.get('etag') ?? '', total, latest, hasNext: body.next_cursor !== null,
      items: signals.map((signal) => ({ id: signal.id, hash: hashOf(signal) })),
      result: hashOf([body.query, body.workspace, body.summary, signals, body.next_cursor !== null]),
    },
  };
}

/** All pages, or as many as there are before the nodes go away. */
export async function walk(nodes: Nodes, random: Random, asking: Asking, most = Infinity): Promise<Walk> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  let failures = 0;
  while (pages.length < most && failures < 100) {
    const node = nodes.any(random);
    const answer: Answer | 304 | null = node && await askPage(node, asking, cursor);
    if (answer === null || answer === 304) {
      failures += 1;
      await sleep(50);
      continue;
    }
    pages.push(answer.page);
    cursor = answer.next;
    if (cursor === null) return { asker: asking.asker, query: asking.query, pages, isWhole: true };
  }
  return { asker: asking.asker, query: asking.query, pages, isWhole: false };
}

export interface Checker {
  readonly walks: Walk[];
  /** Answers that nothing has changed, of requests that wait and that do not. */
  unchanged(): number;
  stop(): Promise<void>;
  /** Once nobody else writes: the result changes by nothing but a signal that goes, and was not the last that came. */
  loseOne(write: (body: object) => Promise<unknown>): Promise<void>;
  /** Once nothing changes any more: presents all tags again, of which only those of the present result are good. */
  verifyTags(): Promise<void>;
}

const EVERYTHING = { places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], since: null, until: null, limit: 200, visibility: 'public' } as const satisfies Partial<Query>;

/** Asks again and again the same few queries, so that tags of equal addresses can be compared. */
export function startChecker({ nodes, random, askers, contract, faults, queries, restMs }: {
  nodes: Nodes; random: Random; askers: Asker[]; contract: Contract; faults: string[]; queries: number; restMs: number;
}): Checker {
  const pool = Array.from({ length: queries }, () => {
    const asker = random.pick(askers);
    return { contract, faults, asker, query: withEnd(random, randomQuery(random, asker)) };
  });
  // Every run checks an upper bound with every sort: most seeds draw no query that has both `until` and `occurred_at_desc`.
  for (const sort of SORTS) {
    const asker = random.pick(askers);
    pool.push({ contract, faults, asker, query: { ...randomQuery(random, asker), ...EVERYTHING, sort, until: moment(random) } });
  }
  const walks: Walk[] = [];
  const tags = new Map<Asking, Page>();
  let unchanged = 0;
  let isRunning = true;

  async function askAgain(asking: Asking, etag: string): Promise<void> {
    const node = nodes.any(random);
    if (!node) return sleep(20);
    const wait: Record<string, string> = random.chance(0.5) ? { prefer: 'wait=1' } : {};
    const answer = await askPage(node, asking, null, { 'if-none-match': etag, ...wait });
    if (answer === 304) unchanged += 1;
    else if (answer) walks.push({ asker: asking.asker, query: asking.query, pages: [answer.page], isWhole: false });
  }

  async function ask(asking: Asking, most: number): Promise<void> {
    const found = await walk(nodes, random, asking, most);
    if (found.pages[0]) tags.set(asking, found.pages[0]);
    walks.push(found);
  }

  /** Some who turn pages, some who look again and again whether there is anything new. */
  async function work(most: number): Promise<void> {
    while (isRunning) {
      const asking = random.pick(pool);
      const tag = tags.get(asking);
      if (tag && most === 1 && random.chance(0.3)) await askAgain(asking, tag.etag);
      else await ask(asking, most);
      await sleep(random.int(restMs));
    }
  }

  const working = Promise.all([work(30), work(1), work(1)]);
  return {
    walks,
    unchanged: () => unchanged,
    async stop() {
      isRunning = false;
      await working;
    },
    async loseOne(write) {
      const asker = askers[0]!;
      const asking: Asking = { contract, faults, asker, query: { ...randomQuery(random, asker), ...EVERYTHING } };
      const [first, second] = [1, 2].map((number) => randomDraft(random, { title: `last ${number}`, workspaces: [asker.workspaceId!], fat: 0 })).map((draft) => ({ ...draft, visibility: 'public' as const, review_state: 'approved' as const }));
      await write({ signals: [first, second] });
      const isThere = ({ pages }: Walk): boolean => pages.some(({ items }) => items.some(({ id }) => id === first!.id));
      for (const wanted of [true, false]) {
        let found: Walk;
        // A write is acknowledged before it has its number.
        for (let tries = 0; isThere(found = await walk(nodes, random, asking)) !== wanted && tries < 100; tries++) await sleep(20);
        walks.push(found);
        if (wanted) await write({ withdraw: [first!.id] });
      }
    },
    async verifyTags() {
      for (const [asking, old] of tags) {
        const now = (await walk(nodes, random, asking, 1)).pages[0];
        const again = await askPage(nodes.all()[0]!, asking, null, { 'if-none-match': old.etag });
        if (now && again === 304 && now.result !== old.result) faults.push(`a tag of ${asking.asker.name} is good for another result (${JSON.stringify(asking.query)})`);
        if (now && again !== 304 && now.etag === old.etag) faults.push(`a tag of ${asking.asker.name} is the present one and not taken (${JSON.stringify(asking.query)})`);
      }
    },
  };
}

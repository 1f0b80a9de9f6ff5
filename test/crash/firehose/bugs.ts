import { copyKit, type Replacement } from './copy.ts';
import { consultOracle } from './oracle.ts';

/** A mistake that somebody could make, planted in a copy of the kit. */
export interface Bug {
  name: string;
  /** What a run says that finds it. */
  found: RegExp;
  /** Where it can happen at all. */
  database?: 'postgres';
  replacements: Replacement[];
}

const HUB = 'plugins/firehose/stream/hub.js';
const SNAPSHOT = 'plugins/firehose/snapshot';

function quick(tickMs: number, heartbeatMs: number): Replacement[] {
  return [
    { file: HUB, text: 'const TICK_MS = 1000;', by: `const TICK_MS = ${tickMs};` },
    { file: HUB, text: 'const HEARTBEAT_MS = 15_000;', by: `const HEARTBEAT_MS = ${heartbeatMs};` },
    { file: HUB, text: 'const AGE_MS = 15 * 60_000;', by: 'const AGE_MS = 2000;' },
    { file: HUB, text: 'const HIGH_WATER = 256 * 1024;', by: 'const HIGH_WATER = 16 * 1024;' },
    { file: 'plugins/firehose/stream/group.js', text: 'const PAGE_LINES = 128;', by: 'const PAGE_LINES = 4;' },
    { file: 'plugins/firehose/log/log.js', text: 'const MOST_ENTRIES = 8192;', by: 'const MOST_ENTRIES = 64;' },
  ];
}

/**
 * A heart that beats all the time instead of every 15 s, streams that end by themselves after two, little memory and small pages:
 * a short run over a few hundred signals then goes all the ways that a long one over many goes.
 */
export const QUICK = quick(50, 100);

/** Numbers are drawn in the writer's own transaction, which commits when it commits. */
const NAIVE_APPEND = `
            const drawn = await tx.raw(\`select nextval(pg_get_serial_sequence('\${outboxTable}', 'key')) as seq from generate_series(1, \${rows.length})\`);
            const numbered = rows.map((row, index) => ({ seq: Number(drawn[index].seq), ...row }));
            await bulkInsert(tx, logTable, numbered);
            await tx.transaction((inner) => options.numbered?.(inner, numbered)).catch(() => undefined);
            await new Promise((done) => { setTimeout(done, Math.random() * 40); });
            const last = numbered.at(-1).seq;
            await tx.raw(\`update \${headTable} set last_seq = greatest(last_seq, \${last})\`);
            await tx.raw(\`select pg_notify('\${name}', '\${last}')\`);
            afterCommit(tx, () => advance(last));`;

export const BUGS: Bug[] = [
  {
    name: 'the tail of a log whose numbers become visible out of order',
    database: 'postgres',
    found: /is missing before/,
    replacements: [...QUICK, {
      file: 'core/sequence.js',
      text: `
            await (rows.length === 1 ? tx(outboxTable).insert(rows) : bulkInsert(tx, outboxTable, rows));
            // The node that committed numbers its rows at once.
            afterCommit(tx, mover.wake);`,
      by: NAIVE_APPEND,
    }],
  },
  {
    name: 'a moment between reading the log and joining those who get what is new',
    found: /is missing before|before \d+ was sent|never came/,
    replacements: [...QUICK, { file: HUB, text: 'return joinLive(member);', by: 'return new Promise((done) => { setTimeout(done, 50); }).then(() => joinLive(member));' }],
  },
  {
    name: 'the heartbeat of somebody who lags behind names the head',
    found: /a heartbeat said|came after/,
    replacements: [...quick(1, 0), { file: HUB, text: 'if (hasEverything(member))', by: 'if (member)' }],
  },
  {
    name: 'the version that a new one replaces is forgotten',
    found: /never came|is missing before|snapshot and stream together/,
    replacements: [...QUICK, { file: 'plugins/firehose/log/store.js', text: 'if (before?.facts)', by: 'if (before === 0)' }],
  },
  {
    name: 'the tag stays when a signal goes that was not the last',
    found: /the result changed, the tag did not/,
    replacements: [...QUICK, { file: `${SNAPSHOT}/answer.js`, text: 'weakEtag(log.epoch(), which, last_seq, total)', by: 'weakEtag(log.epoch(), which, last_seq)' }],
  },
  {
    name: 'a replay does not ask who reads',
    found: /came, which does not match|as a signal, and is the other/,
    replacements: [...QUICK, {
      file: 'plugins/firehose/stream/group.js',
      text: 'deliveryOf(entry, subscription.filter)', by: 'deliveryOf(entry, { ...subscription.filter, audiences: { includes: () => true } })',
    }],
  },
  {
    name: 'a resume begins with the line that the client has',
    found: /\d+ came after \d+/,
    replacements: [...QUICK, { file: HUB, text: 'cursor: after,', by: 'cursor: Math.max(0, after - 1),' }],
  },
  {
    name: 'everybody who asks the same is one group, whoever they are',
    found: /came, which does not match|never came|is missing before|do not belong there|in all, not/,
    replacements: [...QUICK, { file: 'plugins/firehose/query/subscription.js', text: 'JSON.stringify([asked, audiences, workspace])', by: 'JSON.stringify([asked])' }],
  },
  {
    name: 'the next page begins after all that are as old as the last',
    found: /are on none of \d+ pages/,
    replacements: [...QUICK, { file: `${SNAPSHOT}/snapshot.js`, text: '[last.value, last.born, asOf ?? head]', by: '[last.value, 0, asOf ?? head]' }],
  },
  {
    name: 'an upper bound alone returns signals that have no time',
    found: /occurred_at_desc"}\): \d+ signals in all, not/,
    replacements: [...QUICK, { file: 'plugins/firehose/query/filter.js', text: 'bounds.until < Infinity ? Math.max(bounds.since, NEVER + 1) : bounds.since', by: 'bounds.since' }],
  },
];

const TRIES = 5;

/** Consults the oracle about a copy with this bug, with a few seeds: chance decides what happens in a short run. Null when it did not find it. */
export async function findBug(bug: Bug, seed: number, newUrl: () => Promise<string | null>): Promise<string | null> {
  const kit = copyKit(bug.replacements);
  try {
    for (let number = 0; number < TRIES; number++) {
      const report = await consultOracle({ url: await newUrl(), seed: seed + number, signals: 150, followers: 12, writers: 5, kills: 0, root: kit.root, settleMs: 2000 });
      const found = report.faults.find((fault) => bug.found.test(fault));
      if (found) return found;
    }
    return null;
  } finally {
    kit.remove();
  }
}

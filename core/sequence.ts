import { createWaker, repeat, type Repeating } from './background.ts';
import { afterCommit, shareWork } from './database/commit.ts';
import { bulkInsert } from './database/dialect.ts';
import type { OpenDatabase } from './database/connect.ts';
import type { Columns, Reader, Tx } from './database/types.ts';
import type { Logger } from './log.ts';

const MOVED_AT_ONCE = 500;
const POLL_MS = 1000;

/**
 * A log whose rows are numbered 1, 2, 3… without holes, so that a reader who has seen 17 knows that 18 is next
 * and that nothing will ever appear before it. Three tables: `<name>_log`, `<name>_head`, `<name>_outbox`.
 *
 * SQLite has one writer, so rows are numbered in the transaction that writes them, once for all writes that commit
 * together. On Postgres numbers given by writers would become visible out of order; there `append` only adds to the
 * outbox, and a sequencer moves what was committed to the log. On both, a transaction does not see the rows it appends.
 * Order is the order of sequencing; rows of one transaction stay in the order they were appended.
 */
export interface Sequence<Row extends object> {
  append(tx: Tx, rows: Row[]): Promise<void>;
  head(reader: Reader): Promise<Head>;
  /** The rows after `seq`, in order. */
  after(reader: Reader, seq: number, limit: number): Promise<Sequenced<Row>[]>;
  /**
   * Calls back with the number of the newest row whenever there are new ones, on every node; with the newest rows themselves
   * when this process numbered them, so that nobody reads them again. Answers how to stop that.
   */
  onAdvance(listener: (seq: number, rows?: Sequenced<Row>[]) => void): () => void;
  /** Removes the rows up to and including `seq`, in small transactions. Answers how many there were. */
  prune(seq: number): Promise<number>;
  /** Numbers what was appended, by this process or others, and listens for what other nodes numbered. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type Sequenced<Row> = Row & { seq: number };

export interface Head {
  last_seq: number;
  /** The last row that was pruned: the log holds `floor_seq + 1` to `last_seq`. */
  floor_seq: number;
}

export interface SequenceOptions<Row> {
  /** Asked when first needed: declared before the database is open. */
  db: () => OpenDatabase;
  log: Logger;
  /** The prefix of its tables: `core_event`. */
  name: string;
  /** The owner's columns, as given to `schema.createSequenceTables`. */
  columns: Columns;
  /** What follows from new rows, in the transaction that numbers them and in their order. */
  numbered?: (tx: Tx, rows: Sequenced<Row>[]) => Promise<void>;
  /** What follows from the removal of the rows up to `floor`, in the transaction that removes them and before it. */
  pruned?: (tx: Tx, floor: number) => Promise<void>;
}

export function createSequence<Row extends object>(options: SequenceOptions<Row>): Sequence<Row> {
  const { log, name } = options;
  const logTable = `${name}_log`;
  const headTable = `${name}_head`;
  const outboxTable = `${name}_outbox`;
  const columns = Object.keys(options.columns);
  const move = moveStatement(name, columns);

  const listeners = new Set<(seq: number, rows?: Sequenced<Row>[]) => void>();
  let newest = 0;
  let polling: Repeating | undefined;
  let unlisten: (() => Promise<void>) | undefined;
  let isStarted = false;
  const mover = createWaker(moveAll, (error) => log.warn({ err: error }, `Numbering ${name} is delayed`));

  function advance(seq: number, rows?: Sequenced<Row>[]): void {
    if (seq <= newest) return;
    newest = seq;
    for (const listener of listeners) listener(seq, rows);
  }

  async function append(tx: Tx, rows: Row[]): Promise<void> {
    if (rows.length === 0) return;
    if (options.db().dialect === 'postgres') {
      // A set costs more than it saves for one.
      await (rows.length === 1 ? tx(outboxTable).insert(rows) : bulkInsert(tx, outboxTable, rows));
      // The node that committed numbers its rows at once.
      afterCommit(tx, mover.wake);
      return;
    }
    await shareWork(tx, appendAndAdvance, rows);
  }

  async function appendAndAdvance(tx: Tx, rows: Row[]): Promise<void> {
    const numbered = await appendNumbered(tx, rows);
    afterCommit(tx, () => advance(numbered.at(-1)!.seq, numbered));
  }

  async function appendNumbered(tx: Tx, rows: Row[]): Promise<Sequenced<Row>[]> {
    const [head] = (await tx.raw(`update ${headTable} set last_seq = last_seq + ? where id = 1 returning last_seq`, [rows.length])) as { last_seq: number }[];
    const first = head!.last_seq - rows.length + 1;
    const numbered = rows.map((row, index) => ({ seq: first + index, ...row }));
    await bulkInsert(tx, logTable, numbered);
    await options.numbered?.(tx, numbered);
    return numbered;
  }

  async function head(reader: Reader): Promise<Head> {
    return reader(headTable).where({ id: 1 }).first('last_seq', 'floor_seq');
  }

  async function after(reader: Reader, seq: number, limit: number): Promise<Sequenced<Row>[]> {
    return reader(logTable).select('seq', ...columns).where('seq', '>', seq).orderBy('seq').limit(limit);
  }

  async function prune(seq: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await options.db().write(async (tx) => {
        const { last_seq, floor_seq } = await head(tx);
        const floor = Math.min(seq, last_seq, floor_seq + MOVED_AT_ONCE);
        if (floor <= floor_seq) return 0;
        await options.pruned?.(tx, floor);
        await tx(logTable).where('seq', '<=', floor).delete();
        await tx(headTable).where({ id: 1 }).update({ floor_seq: floor });
        return floor - floor_seq;
      });
      if (count === 0) return removed;
      removed += count;
    }
  }

  async function moveAll(): Promise<void> {
    let moved = MOVED_AT_ONCE;
    while (isStarted && moved === MOVED_AT_ONCE) {
      const rows = await options.db().write(moveBatch);
      moved = rows.length;
      if (moved > 0) advance(rows.at(-1)!.seq, rows);
    }
  }

  async function moveBatch(tx: Tx): Promise<Sequenced<Row>[]> {
    // A statement of its own: the next one then sees everything committed before this lock was given.
    await tx(headTable).where({ id: 1 }).forUpdate().first('last_seq');
    const rows = (await tx.raw(move)) as Sequenced<Row>[];
    if (rows.length > 0) await options.numbered?.(tx, rows);
    return rows;
  }

  /** Finds rows whose writer died before it could number them, and notifications that got lost. */
  async function poll(): Promise<void> {
    const { read } = options.db();
    const waiting = await read(outboxTable).first('key');
    if (waiting) mover.wake();
    advance((await head(read)).last_seq);
  }

  /** After a restore from Postgres. */
  async function emptyOutbox(): Promise<void> {
    await options.db().write(async (tx) => {
      const rows: Row[] = await tx(outboxTable).select(columns).orderBy('key');
      if (rows.length === 0) return;
      await appendNumbered(tx, rows);
      await tx(outboxTable).delete();
    });
  }

  return {
    append,
    head,
    after,
    prune,
    onAdvance(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async start() {
      isStarted = true;
      const db = options.db();
      if (db.dialect === 'sqlite') {
        await emptyOutbox();
        return advance((await head(db.read)).last_seq);
      }
      unlisten = await db.listen(name, (payload) => advance(Number(payload)));
      await poll();
      polling = repeat(POLL_MS, poll, (error) => log.warn({ err: error }, `Reading the head of ${name} failed`));
    },
    async stop() {
      isStarted = false;
      await polling?.stop();
      await mover.idle();
      await unlisten?.();
      unlisten = undefined;
    },
  };
}

/** Under the lock of the head's row: numbers the oldest rows of the outbox and returns them; notifies other nodes once for all of them. */
function moveStatement(name: string, columns: string[]): string {
  const list = columns.map((column) => `"${column}"`).join(', ');
  return `
    with taken as (
      delete from ${name}_outbox where key in (select key from ${name}_outbox order by key limit ${MOVED_AT_ONCE}) returning *
    ), moved as (
      insert into ${name}_log (seq, ${list})
      select last_seq + row_number() over (order by key), ${list} from taken, ${name}_head where id = 1
      returning seq, ${list}
    ), head as (
      update ${name}_head set last_seq = last_seq + (select count(*) from moved)
      where id = 1 and (select count(*) from moved) > 0 returning pg_notify('${name}', last_seq::text)
    )
    select moved.* from moved, head order by seq`;
}

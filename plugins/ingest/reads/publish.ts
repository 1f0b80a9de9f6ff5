import { writableText, type Tx } from 'civic';
import type { Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { insertSignals } from '../feeds/store.ts';
import { signalsOf, type Former, type RowSignal, type SignalContext } from '../signals/drafts.ts';
import { passageOf } from '../signals/evidence.ts';
import { publishedVote, type PublishedVotes } from '../signals/votes.ts';
import type { SourceRow } from '../sources/store.ts';
import { hashOf, type Change, type Comparison } from './compare.ts';
import { byNewItemKeys } from './items.ts';
import { endRow, freeKeys, insertRows, setDoubted, updateRow, type RowVersion, type StoredRow } from './store.ts';

/** What a read found, and what was stored before. */
export interface Found extends Comparison {
  stored: Map<string, StoredRow>;
  /** The rows that are listed as cancelled beside others that continue them: they are stored without signals. */
  superseded: Row[];
  /** The rows as they were read, with the lines of pages that are ignored. */
  given: Row[];
}

/** Publishes the signals of all changes and stores the rows. Returns how many signals there were. */
export async function publish(ingest: Ingest, tx: Tx, source: SourceRow, { changes, doubted, stored, superseded, given }: Found, context: SignalContext): Promise<number> {
  const at = ingest.civic.clock.iso();
  const planned = changes.map((change) => {
    const former = withNewVoteKeys(stored.get('before' in change ? change.before.key : change.row.key), change.row);
    return { change, former, signals: signalsOf(change, former ? formerOf(former) : null, context) };
  });
  const ids = await publishDrafts(ingest, tx, planned.flatMap(({ signals }) => signals));
  await insertSignals(tx, source.key, ids, at);
  const pages = new Map(given.filter(({ kind }) => kind === 'page').map((row) => [row.key, row]));
  await freeKeys(tx, takenKeys(changes, stored));
  let next = 0;
  const added: RowVersion[] = [];
  for (const { change, former, signals } of planned) {
    const published = signals.map((signal) => ({ ...signal, id: ids[next++]! }));
    const idOf = new Map(published.map(({ is, id }) => [is, id]));
    const version = { ...versionOf(pages.get(change.row.key) ?? change.row, context), signal_id: idOf.get('row') ?? former?.signal_id ?? null, cancelled_id: cancelledId(idOf, former), votes: votesAfter(former, published) };
    if (change.type === 'added') added.push(version);
    else if (change.type === 'gone') await endRow(tx, source.key, change.row.key, version.cancelled_id, at);
    else await updateRow(tx, former!.key, version, at);
  }
  const silent = superseded.map((row) => ({ ...versionOf(row, context), signal_id: null, cancelled_id: null, votes: null }));
  await insertRows(tx, source.key, [...added, ...silent], at);
  await setDoubted(tx, source.key, doubted.map(({ key }) => key));
  return ids.length;
}

/** Returns which stored rows have the key that another row has now: keys contain dates, and another address numbers its meetings anew. */
function takenKeys(changes: Change[], stored: Map<string, StoredRow>): number[] {
  const keys = changes.flatMap((change) => (change.type === 'gone' || ('before' in change && change.before.key === change.row.key) ? [] : [change.row.key]));
  return keys.flatMap((key) => stored.get(key)?.key ?? []);
}

/** Publishes signals, and keeps the contents that their evidence refers to. */
async function publishDrafts(ingest: Ingest, tx: Tx, signals: RowSignal[]): Promise<string[]> {
  if (signals.length === 0) return [];
  const drafts = signals.map(({ draft }) => draft);
  await ingest.reader.keep(tx, [...new Set(drafts.flatMap(({ evidence }) => evidence.flatMap(({ content_hash }) => content_hash ?? [])))]);
  return ingest.firehose.publish(tx, drafts);
}

function formerOf({ data, signal_id, cancelled_id, votes, content_hash, content_at, passage }: StoredRow): Former {
  return { row: JSON.parse(data) as Row, signal_id, cancelled_id, votes: votesIn(votes), content_hash, content_at, passage };
}

/** Returns what is stored of a row with its votes by the keys that the items of its agenda have now. */
function withNewVoteKeys(former: StoredRow | undefined, row: Row): StoredRow | undefined {
  return former?.votes ? { ...former, votes: JSON.stringify(byNewItemKeys(votesIn(former.votes), JSON.parse(former.data) as Row, row)) } : former;
}

function votesIn(json: string | null | undefined): PublishedVotes {
  return json ? JSON.parse(json) as PublishedVotes : {};
}

function votesAfter(former: StoredRow | undefined, published: (RowSignal & { id: string })[]): string | null {
  const votes = { ...votesIn(former?.votes), ...Object.fromEntries(published.flatMap(({ id, vote }) => (vote ? [[vote.key, publishedVote(vote, id)]] : []))) };
  return Object.keys(votes).length > 0 ? JSON.stringify(votes) : null;
}

function versionOf(row: Row, { content_hash, text }: SignalContext): Omit<RowVersion, 'signal_id' | 'cancelled_id' | 'votes'> {
  const passage = row.kind === 'page' ? null : passageOf(row, text)?.text ?? null;
  return { row, hash: hashOf(row), content_hash, passage: passage && writableText(passage) };
}

function cancelledId(idOf: Map<RowSignal['is'], string>, former: StoredRow | undefined): string | null {
  if (idOf.has('correction')) return null;
  return idOf.get('cancellation') ?? former?.cancelled_id ?? null;
}

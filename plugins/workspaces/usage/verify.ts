import type { Reader } from 'civic';
import { chained, headHash, START, type UsageHead } from './chain.ts';
import { headsAfter, linesAfter, monthsOf, withoutHead } from './store.ts';
import type { Usage } from './usage.ts';
import type { Remembered, Witness } from './witness.ts';

const BATCH = 1000;

export interface Verified {
  workspaces: number;
  lines: number;
  /** What is wrong, one sentence for each workspace. */
  faults: string[];
  /** Workspaces whose head was sealed with a key that is not known here. */
  unverified: string[];
}

/** Follows the lines of all workspaces, or of one, from the first to the last, and compares the ends with the seals and with the file of the data folder. */
export async function verifyUsage(reader: Reader, usage: Pick<Usage, 'seals' | 'witness'>, only: string | null): Promise<Verified> {
  const found: Verified = { workspaces: 0, lines: 0, faults: [], unverified: [] };
  const remembered = new Map(Object.entries(rememberedLines(usage.witness, found)).filter(([id]) => only === null || id === only));
  for (let after: string | null = null, heads; (heads = await headsAfter(reader, after, BATCH)).length > 0; after = heads.at(-1)!.workspace_id) {
    for (const head of heads.filter(({ workspace_id }) => only === null || workspace_id === only)) {
      found.workspaces++;
      const fault = await faultOf(reader, head, remembered.get(head.workspace_id), usage, found);
      if (fault !== null) found.faults.push(`workspace ${head.workspace_id}: ${fault}`);
      remembered.delete(head.workspace_id);
    }
  }
  for (const id of (await withoutHead(reader)).filter((one) => only === null || one === only)) found.faults.push(`workspace ${id}: its head was removed`);
  for (const [id, { seq }] of remembered) found.faults.push(`workspace ${id}: all its lines were removed; ${usage.witness.file} remembers line ${seq}. If you restored an older backup, delete that file`);
  return found;
}

function rememberedLines(witness: Witness, { faults }: Verified): Record<string, Remembered> {
  try {
    return witness.remembered();
  } catch (error) {
    faults.push((error as Error).message);
    return {};
  }
}

async function faultOf(reader: Reader, head: UsageHead, seen: Remembered | undefined, { seals, witness }: Pick<Usage, 'seals' | 'witness'>, found: Verified): Promise<string | null> {
  const { workspace_id, deleted_at } = head;
  let [seq, hash] = [0, START];
  const sums = new Map<string, number>();
  for (let lines; (lines = await linesAfter(reader, workspace_id, seq, BATCH)).length > 0;) {
    for (const line of lines) {
      if (deleted_at !== null) return `it was deleted at ${deleted_at}, and line ${line.seq} was added afterwards`;
      if (line.seq !== seq + 1) return `line ${seq + 1} was removed`;
      if (line.prev_hash !== hash || chained(hash, line) !== line.hash) return `line ${line.seq} (${line.meter}, ${line.at}) was changed`;
      if (line.seq === seen?.seq && line.hash !== seen.hash) return `line ${line.seq} is another one than ${witness.file} remembers`;
      ({ seq, hash } = line);
      const sum = `${line.meter} in ${line.at.slice(0, 7)}`;
      sums.set(sum, (sums.get(sum) ?? 0) + line.amount);
      found.lines++;
    }
  }
  const verdict = seals.verdict(headHash(head), head.seal);
  if (verdict === 'foreign') found.unverified.push(workspace_id);
  if (verdict === 'forged' || verdict === 'unsealed') return `its head (line ${head.seq}) was changed: the seal does not fit`;
  if (deleted_at !== null) return null;
  if (head.seq > seq) return head.seq === seq + 1 ? `line ${head.seq}, the last one, was removed` : `lines ${seq + 1} to ${head.seq} were removed`;
  if (head.seq < seq || head.hash !== hash) return `lines after ${head.seq} were not written by this instance`;
  if (seen?.broken_at) return `line ${seen.seq} was changed or removed before ${seen.broken_at}: ${witness.file} remembers another one. If you restored an older backup, delete that file`;
  if (seen && seen.seq > seq) return `lines ${seq + 1} to ${seen.seq} were removed: ${witness.file} remembers them. If you restored an older backup, delete that file`;
  return wrongSum(sums, await monthsOf(reader, workspace_id, ''));
}

/** Compares the sums of months, which pages and the API show, with the lines. */
function wrongSum(sums: Map<string, number>, months: { month: string; meter: string; amount: number }[]): string | null {
  const stored = new Map(months.map(({ month, meter, amount }) => [`${meter} in ${month}`, amount]));
  const wrong = [...new Set([...sums.keys(), ...stored.keys()])].find((sum) => (sums.get(sum) ?? 0) !== (stored.get(sum) ?? 0));
  return wrong === undefined ? null : `the sum of ${wrong} was changed: it is ${stored.get(wrong) ?? 0}, and its lines add up to ${sums.get(wrong) ?? 0}`;
}

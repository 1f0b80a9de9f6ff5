import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, Misuse, type Command, type CommandCall, type Terminal } from 'civic';
import type { ShownRun } from 'civic/discovery';
import type { Scout } from './context.ts';
import { entriesOf, runsOf, type Entry } from './entries.ts';
import { rejectionOf, signedIn, type Instance } from './instance.ts';
import { deletePartsAfter, savePart, storedParts } from './store.ts';

/** Of one part, as the instance accepts them. */
const MOST_ENTRIES = 500;
const MOST_TRIES = 5;
const LONGEST_WAIT_MS = 60_000;

interface Receipt {
  run_id: string;
  duplicate: boolean;
  visibility: string;
  review_state: string;
  entry_links: { local_id: string; entity_id: string | null; action: string }[];
  entries_persisted: number;
  sources_persisted: number;
}

export function syncCommand(scout: Scout): Command {
  return {
    name: 'sync',
    summary: 'Send the accepted entries to the instance',
    options: [
      { name: 'run', value: 'id', summary: 'Only those of one run' },
      { name: 'visibility', value: 'visibility', summary: 'workspace, or public to ask its reviewers to publish them (default: workspace)' },
      { name: 'brief', value: 'id', summary: 'A brief of the workspace that gets the entries' },
      { name: 'list', value: 'id', summary: 'A list of the workspace that gets the entries' },
      { name: 'coverage-target', value: 'id', summary: 'A coverage target of the workspace that gets the entries' },
    ],
    examples: ['bin/scout sync', 'bin/scout sync --run 0190a1b2-… --list 0190a1b2-…'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, options }) {
      const visibility = (options.visibility as string | undefined) ?? 'workspace';
      if (visibility !== 'workspace' && visibility !== 'public') throw new Misuse(`--visibility is workspace or public, not "${visibility}"`);
      const instance = signedIn(scout.civic.instance.data_dir, scout.civic.config.instance.url);
      const receipts: (Receipt & { local_run_id: string; part: number; parts: number })[] = [];
      for (const run of await runsOf(scout, options)) {
        const entries = await entriesOf(scout, run);
        if (entries.length > 0) for (const receipt of await syncRun(scout, instance, run, bundlesOf(run, entries, { visibility, links: linksOf(options) }), terminal)) receipts.push(receipt);
      }
      terminal.print(receipts, () => receipts.map(receiptWords).join('\n') || 'There is nothing to send: bin/scout review accepts candidates.');
    },
  };
}

function linksOf(options: CommandCall['options']): object | undefined {
  const links = Object.entries({ brief_id: options.brief, list_id: options.list, coverage_target_id: options['coverage-target'] }).filter(([, id]) => id !== undefined);
  return links.length > 0 ? Object.fromEntries(links) : undefined;
}

/** Returns the parts of a run, each with the sources that its entries cite. The same entries give the same parts. */
function bundlesOf({ id, location, issue_areas, started_at, completed_at }: ShownRun, entries: Entry[], more: { visibility: string; links?: object }): string[] {
  const sorted = entries.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const parts = Math.ceil(sorted.length / MOST_ENTRIES);
  return Array.from({ length: parts }, (_, at) => {
    const part = sorted.slice(at * MOST_ENTRIES, (at + 1) * MOST_ENTRIES);
    const sources = new Map(part.flatMap((entry) => entry.sources).map((source) => [source.local_id, source]));
    return JSON.stringify({
      tool: { name: 'scout', version: VERSION }, local_run_id: id, location, issue_areas, started_at, completed_at, ...more, part: at + 1, parts,
      sources: [...sources.values()].map(({ local_id, url, title, publication, published_at, retrieved_at, content_hash }) => ({ local_id, url, title, publication, published_at, retrieved_at, text_hash: content_hash, excerpt: null })),
      entries: part.map(({ id: local_id, type, name, claims }) => ({ local_id, decision: 'accepted', type, name, claims: claims.map(({ property, value, source_local_id, excerpt, locator, confidence, method }) => ({ property, value, source_local_id, excerpt, locator, confidence, method })) })),
    });
  });
}

/** The format of the bundle. */
const VERSION = '1';

/** Sends the parts of a run. Parts that an interrupted sync has sent are not sent again; a complete sync is repeated, and the instance recognizes it. */
async function syncRun({ civic }: Scout, instance: Instance, run: ShownRun, bundles: string[], terminal: Terminal): Promise<(Receipt & { local_run_id: string; part: number; parts: number })[]> {
  const stored = new Map((await storedParts(civic.db.read, run.id, instance.url)).map((row) => [Number(row.part), row]));
  const hashes = bundles.map((bundle) => createHash('sha256').update(bundle).digest('hex'));
  const isComplete = hashes.every((hash, at) => stored.get(at + 1)?.hash === hash);
  const receipts = [];
  for (const [at, bundle] of bundles.entries()) {
    const part = at + 1;
    const known = stored.get(part);
    const isSent = !isComplete && known?.hash === hashes[at];
    const receipt = isSent ? JSON.parse(known!.receipt) as Receipt : await sendPart(instance, bundle, terminal);
    if (!isSent) await civic.db.write((tx) => savePart(tx, { run_id: run.id, instance: instance.url, part, parts: bundles.length, hash: hashes[at]!, receipt: JSON.stringify(receipt), synced_at: civic.clock.iso() }));
    if (bundles.length > 1) terminal.progress('Sending parts', part, bundles.length);
    receipts.push({ ...receipt, local_run_id: run.id, part, parts: bundles.length });
  }
  await civic.db.write((tx) => deletePartsAfter(tx, run.id, instance.url, bundles.length));
  return receipts;
}

/** Sends a part, and waits where the instance asks for patience. Sending it again is safe. */
async function sendPart(instance: Instance, bundle: string, { signal }: Terminal): Promise<Receipt> {
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw new Failure('Stopped. bin/scout sync goes on with the parts that are left.');
    const response = await instance.send('POST', '/api/discovery-runs/syncs', bundle);
    if (response.status === 200 || response.status === 201) return response.body as unknown as Receipt;
    const isBusy = response.status === 429 || response.status === 503;
    const waitMs = response.retryAfterMs ?? 1000 * attempt;
    if (!isBusy || attempt >= MOST_TRIES || waitMs > LONGEST_WAIT_MS) throw new Failure(rejectionOf(instance.url, response));
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

function receiptWords({ run_id, local_run_id, part, parts, duplicate, visibility, review_state, entry_links, entries_persisted, sources_persisted }: Receipt & { local_run_id: string; part: number; parts: number }): string {
  const counts = new Map<string, number>();
  for (const { action } of entry_links) counts.set(action, (counts.get(action) ?? 0) + 1);
  const actions = [...counts].map(([action, count]) => `${count} ${action}`).join(', ');
  const head = `Run ${local_run_id}${parts > 1 ? `, part ${part} of ${parts}` : ''}: ${duplicate ? 'the instance had it already' : `${entries_persisted} entries and ${sources_persisted} sources stored`}`;
  return `${head} as run ${run_id} (${actions || 'no entries'}; visibility ${visibility}, ${review_state}).`;
}

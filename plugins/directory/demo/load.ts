import type { Database } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { Ledger } from '../ledger/service.ts';
import type { Places } from '../places/service.ts';
import type { ActorDraft, Editor } from '../types.ts';
import { draftsOfDemo } from './generate.ts';
import { countDemo, DEMO_ORIGIN } from './store.ts';

export interface DemoStand {
  db: Database;
  ledger: Ledger;
  places: Places;
  /** Whether the taxonomy in use has this slug: an operator may have another one. */
  hasIssueArea(slug: string): boolean;
  now: number;
  progress?(done: number, total: number): void;
}

export interface DemoCounts {
  places: number;
  actors: number;
  sources: number;
  claims: number;
}

// The year the oldest paper of the region was founded; any other number gives another region.
const SEED = 1887;
const PLACE_ORIGIN = 'demo';
// Small enough that others can write in between.
const CHUNK = 25;
const EDITOR: Editor = { kind: 'demo', account_id: null, workspace_id: null };

/** Enters the region, and answers what is in it; null when it is there already. One that was left half-way is made anew. */
export async function loadDemo(stand: DemoStand): Promise<DemoCounts | null> {
  const { db, ledger, places } = stand;
  const demo = draftsOfDemo(SEED, stand.now);
  const present = await countDemo(db.read);
  if (present === demo.drafts.length) return null;
  if (present > 0) await removeDemo(stand);
  await db.write((tx) => places.add(tx, demo.places, PLACE_ORIGIN));
  const drafts = demo.drafts.map((draft) => withKnownAreas(draft, stand.hasIssueArea));
  let done = 0;
  for (const some of chunksOf(drafts, CHUNK)) {
    const checked = await ledger.check(db.read, some);
    const good = checked.map((one) => {
      if ('faults' in one) throw new Error(`A draft of the demo is wrong: ${one.faults[0]!.pointer} ${one.faults[0]!.detail}`);
      return one.draft;
    });
    await db.write((tx) => ledger.apply(tx, good, EDITOR));
    stand.progress?.(done += some.length, drafts.length);
  }
  await db.write(async (tx) => {
    for (const { left, right, verdict, reason, score } of demo.judgements) await ledger.judge(tx, { left_id: left, right_id: right, verdict, reason, score }, EDITOR);
  });
  return {
    places: demo.places.length,
    actors: drafts.length - demo.judgements.filter(({ verdict }) => verdict === 'same').length,
    sources: new Set(drafts.flatMap(({ sources }) => sources.map(({ url }) => url))).size,
    claims: drafts.reduce((sum, { claims }) => sum + claims.length, 0),
  };
}

function withKnownAreas(draft: ActorDraft, hasIssueArea: DemoStand['hasIssueArea']): ActorDraft {
  return { ...draft, claims: draft.claims.filter(({ property, value }) => property !== 'issue_area' || hasIssueArea(value as string)) };
}

/** Takes all of it away for good and nothing else; answers how many records went. */
export async function removeDemo({ db, ledger, places }: Pick<DemoStand, 'db' | 'ledger' | 'places'>): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await db.write((tx) => ledger.erase(tx, DEMO_ORIGIN, CHUNK));
    if (count === 0) break;
    removed += count;
  }
  await db.write((tx) => places.removeOrigin(tx, PLACE_ORIGIN));
  return removed;
}

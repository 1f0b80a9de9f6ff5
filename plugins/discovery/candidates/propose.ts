import { foldText, newId, type Tx } from 'civic';
import type { ActorDraft, ClaimDraft, SourceDraft } from 'civic/directory';
import type { Discovery } from '../context.ts';
import { addToCounts, type RunRow } from '../runs/store.ts';
import { atPlace } from './place.ts';
import { candidatesOfRun, candidateTotal, insertCandidates, rejectionsOf, updateCandidate, type CandidateRow } from './store.ts';

/** An actor that was found in pages, with a score from 0 to 1 that it is one. */
export interface Finding extends Pick<ActorDraft, 'type' | 'claims' | 'sources'> {
  score: number;
}

/** A page can name one actor in many ways: more than this helps no reviewer. */
const MOST_CLAIMS = 100;
const MOST_SOURCES = 50;
/** Of one run: more than a person reviews. */
const MOST_CANDIDATES = 2000;

/**
 * Stores findings as candidates of a run, one for each type, name and place. A further finding of a pending candidate adds its claims. People who asked not to be
 * listed are left out, and so are claims that are not valid.
 */
export async function propose({ civic, directory }: Discovery, tx: Tx, run: RunRow, findings: Finding[]): Promise<void> {
  const listed = await listedFindings(directory, tx, run, findings);
  const merged = new Map<string, Finding>();
  for (const finding of listed) {
    const print = fingerprintOf(finding, run.place_key);
    const known = merged.get(print);
    merged.set(print, known ? united(known, finding) : finding);
  }
  const prints = [...merged.keys()];
  const known = await candidatesOfRun(tx, run.key, prints);
  const rejected = await rejectionsOf(tx, run.workspace_id, prints.filter((print) => !known.has(print)));
  const at = civic.clock.iso();
  for (const [print, candidate] of known) await extend(tx, candidate, merged.get(print)!, at);
  const room = Math.max(0, MOST_CANDIDATES - await candidateTotal(tx, run.key));
  const fresh = prints.filter((print) => !known.has(print)).slice(0, room);
  await insertCandidates(tx, fresh.map((print) => newCandidate(run, print, merged.get(print)!, rejected.get(print), at, newId(civic.clock.now()))));
  await addToCounts(tx, run.key, { candidates: fresh.length, duplicates: listed.length - fresh.length });
}

async function listedFindings(directory: Discovery['directory'], tx: Tx, run: RunRow, findings: Finding[]): Promise<Finding[]> {
  const drafts = await directory.checkDrafts(tx, findings.map(({ type, claims, sources }) => ({ type, visibility: 'workspace', claims, sources })));
  const valid = drafts.flatMap((draft, at) => (draft ? [{ type: draft.type, claims: draft.claims, sources: draft.sources, score: findings[at]!.score }] : []));
  const areUnlisted = await directory.areUnlisted(tx, valid.map((finding) => atPlace(finding, run.place_key)));
  return valid.filter((_, at) => !areUnlisted[at]);
}

/** Returns what is the same for one actor in every run: its type, its name without case, accents, punctuation and an article before it, and the place. */
function fingerprintOf({ type, claims }: Finding, placeKey: string | null): string {
  const name = foldText(nameOf(claims)).replace(/[^\p{L}\p{N}]+/gu, ' ').trim().replace(type === 'person' ? '' : /^the (?=\S)/, '');
  return `${type}|${name}|${placeKey ?? ''}`;
}

/** Returns the first name that the claims state. A draft that was checked has one. */
export function nameOf(claims: ClaimDraft[]): string {
  return claims.find(({ property }) => property === 'name')!.value as string;
}

/** Unites two findings of one actor; what the first states comes first. */
function united(one: Finding, other: Finding): Finding {
  const sources = firstOfEach<SourceDraft>([...one.sources, ...other.sources], ({ local_id }) => local_id).slice(0, MOST_SOURCES);
  const cited = new Set(sources.map(({ local_id }) => local_id));
  const claims = firstOfEach([...one.claims, ...other.claims], identityOf).filter(({ source_local_id }) => cited.has(source_local_id)).slice(0, MOST_CLAIMS);
  return { type: one.type, score: Math.max(one.score, other.score), sources, claims };
}

function firstOfEach<Item>(items: Item[], keyOf: (item: Item) => string): Item[] {
  const found = new Map<string, Item>();
  for (const item of items) if (!found.has(keyOf(item))) found.set(keyOf(item), item);
  return [...found.values()];
}

function identityOf({ property, value, source_local_id }: ClaimDraft): string {
  return JSON.stringify([property, value, source_local_id]);
}

async function extend(tx: Tx, candidate: CandidateRow, finding: Finding, at: string): Promise<void> {
  const before: Finding = { type: candidate.type, score: Number(candidate.score), claims: JSON.parse(candidate.claims), sources: JSON.parse(candidate.sources) };
  // What a reviewer corrected stays as it is.
  if (candidate.decision !== 'pending' || before.claims.some(({ method }) => method === 'manual')) return;
  const { claims, sources, score } = united(before, finding);
  if (claims.length === before.claims.length && score === before.score) return;
  await updateCandidate(tx, candidate.key, { claims: JSON.stringify(claims), sources: JSON.stringify(sources), score, matched_at: null, updated_at: at });
}

/** A candidate that was rejected before stays so. */
function newCandidate(run: RunRow, fingerprint: string, { type, score, claims, sources }: Finding, rejection: CandidateRow | undefined, at: string, id: string): Omit<CandidateRow, 'key'> {
  return {
    id, run_key: run.key, workspace_id: run.workspace_id, fingerprint, type, name: nameOf(claims), score, claims: JSON.stringify(claims), sources: JSON.stringify(sources), match: null, matched_at: null,
    decision: rejection ? 'rejected' : 'pending', decided_at: rejection?.decided_at ?? null, decided_by: rejection?.decided_by ?? null, note: rejection?.note ?? null,
    entity_id: null, done: null, created_at: at, updated_at: at,
  };
}

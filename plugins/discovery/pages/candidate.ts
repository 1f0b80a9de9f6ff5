import type { ResponseObject } from '@hapi/hapi';
import { isId, isWebUrl, problemOf } from 'civic';
import type { ActorDetail } from 'civic/directory';
import { foundCandidate } from '../candidates/decide.ts';
import { shownCandidate, type ShownCandidate } from '../candidates/shown.ts';
import { candidatesPage, type CandidateRow } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import type { RunRow } from '../runs/store.ts';
import type { RunPage } from './area.ts';
import { isArchived } from './archived.ts';
import { editFields } from './edit.ts';
import { lastDecisionOf, noticeOf } from './notices.ts';
import { markedPassage, type Passage } from './passage.ts';
import { keysOf, runOf } from './run.ts';
import { namesFor, shownValue, type Names, type ShownValue } from './values.ts';

const MOST_FOUND = 8;

/** What the page shows besides the candidate, such as after an error. */
export interface More {
  fault?: string;
  /** Sentences of the program, in English. */
  warnings?: string[];
  /** What was typed into the form of corrections. */
  edited?: Record<string, unknown>;
  note?: string;
  status?: number;
}

/** Shows one candidate for review: what is stated about it and where, and the known entry that it may be. */
export async function showCandidate(discovery: Discovery, page: RunPage, { status = 200, edited, ...more }: More = {}): Promise<ResponseObject> {
  const { civic, accounts, directory } = discovery;
  const { t, request, canDecide } = page;
  const run = await runOf(discovery, page);
  const row = await foundCandidate(civic.db.read, run, String(request.params.candidate));
  const candidate = shownCandidate(row);
  const isPending = candidate.decision === 'pending';
  const known = isPending && candidate.match && await knownEntry(discovery, page, candidate.match.entity_id);
  const names = await namesFor(directory, civic.db.read, [...candidate.claims, ...(known ? known.claims : [])], t);
  return page.show({ template: 'discovery/candidate', title: candidate.name, status }, {
    run: { id: run.id, location: run.location || t('run.untitled') }, isPending, canAct: canDecide && isPending,
    candidate: { id: candidate.id, typeText: t(`types.${candidate.type}`), score: candidate.score, decision: candidate.decision, decisionText: t(`decision.${candidate.decision}`), note: candidate.note, decided: accounts!.pages.when(candidate.decided_at, t) },
    statements: statementsOf(run, candidate, names), match: known && matchOnPage(discovery, candidate, known, names),
    isCompared: row.matched_at !== null, entry: await decidedEntry(discovery, page, candidate),
    ...(canDecide && isPending && { edit: editFields(names, candidate, row.updated_at, edited), isEdited: edited !== undefined, ...await searched(discovery, page, names) }),
    after: await nextPending(discovery, run, row), last: await lastDecisionOf(discovery, page, run), notice: noticeOf(page),
    keys: canDecide ? keysOf(page, ['a', 'r', 'm', 'e', 'n', 'u']) : null, ...more,
  });
}

/** Returns an entry that the visitor may see, also after it was merged; null when it is gone. */
async function knownEntry({ directory }: Discovery, { caller }: RunPage, id: string): Promise<ActorDetail | null> {
  try {
    return await directory.detail(id, caller);
  } catch (error) {
    if (problemOf(error)?.status !== 404 && problemOf(error)?.status !== 410) throw error;
    return null;
  }
}

interface Statement {
  label: string;
  value: ShownValue;
  passages: (Passage & { title: string; url: string | null; source: string; isArchived: boolean; isByProgram: boolean })[];
}

/** Returns the claims by property and value, each with the passages that state it. */
function statementsOf(run: RunRow, { claims, sources }: ShownCandidate, names: Names): object[] {
  const found = new Map<string, Statement>();
  for (const claim of claims) {
    const value = shownValue(claim, names);
    const key = `${claim.property} ${value.text}`;
    const statement: Statement = found.get(key) ?? { label: names.t(`properties.${claim.property}`), value, passages: [] };
    found.set(key, statement);
    const source = sources.find(({ local_id }) => local_id === claim.source_local_id);
    if (!source) continue;
    statement.passages.push({
      ...markedPassage(claim.excerpt, value.text), title: source.title ?? source.url, url: isWebUrl(source.url) ? source.url : null, source: encodeURIComponent(source.local_id), isArchived: isArchived(run, source), isByProgram: claim.method === 'model',
    });
  }
  return [...found.values()].map(({ passages: [first, ...others], ...statement }) => ({ ...statement, first, others }));
}

/** Returns the values of the candidate and of the known entry side by side. */
function matchOnPage({ directory }: Discovery, { claims, match }: ShownCandidate, known: ActorDetail, names: Names): object {
  const valuesOf = (stated: { property: string; value: unknown }[], property: string) => [...new Set(stated.filter((one) => one.property === property).map((one) => shownValue(one, names).text))];
  const properties = [...new Set(claims.map(({ property }) => property))];
  return {
    id: known.id, name: known.name, path: known.visibility === 'public' ? directory.links.pages.actor?.(known.id) : null, isPrivate: known.visibility !== 'public', typeText: names.t(`types.${known.type}`), score: match!.score, reasons: match!.reasons,
    rows: properties.map((property) => ({ label: names.t(`properties.${property}`), ours: valuesOf(claims, property), theirs: valuesOf(known.claims, property) })),
  };
}

/** Returns the entry that a decision created, or that the candidate was merged into. */
async function decidedEntry({ civic, directory }: Discovery, { caller }: RunPage, { entity_id }: ShownCandidate): Promise<object | null> {
  const [actor] = entity_id === null ? [] : await directory.actors(civic.db.read, [entity_id]);
  if (!actor || (actor.visibility !== 'public' && actor.workspace_id !== caller.workspace_id)) return null;
  return { name: actor.name, path: actor.visibility === 'public' ? directory.links.pages.actor?.(actor.id) : null, isPrivate: actor.visibility !== 'public' };
}

/** Returns the entries that a reviewer looks for to merge the candidate into: by name, id or address. */
async function searched({ civic, directory }: Discovery, { request, caller }: RunPage, { t }: Names): Promise<{ find: string; found: object[] | null }> {
  const find = typeof request.query['find'] === 'string' ? request.query['find'].trim().slice(0, 500) : '';
  if (find === '') return { find, found: null };
  const id = find.split(/[/?#]/).find((part) => isId(part))?.toLowerCase();
  const actors = id === undefined ? await directory.actorsLike(find, MOST_FOUND) : (await directory.actors(civic.db.read, [id])).filter(({ visibility, workspace_id }) => visibility === 'public' || workspace_id === caller.workspace_id);
  return { find, found: actors.map((actor) => ({ id: actor.id, name: actor.name, typeText: t(`types.${actor.type}`), places: actor.places.map(({ name }) => name).join(', ') })) };
}

/** Returns the id of the candidate that is decided next: the one after this, else the first that waits. */
export async function nextPending({ civic }: Discovery, run: RunRow, { id, score, key }: CandidateRow): Promise<string | null> {
  const first = async (after: { score: number; key: number } | null) => (await candidatesPage(civic.db.read, { run_key: run.key, decision: 'pending' }, { after, limit: 2 })).rows.find((row) => row.id !== id)?.id;
  return await first({ score: Number(score), key: Number(key) }) ?? await first(null) ?? null;
}

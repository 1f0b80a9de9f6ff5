import type { ResponseObject } from '@hapi/hapi';
import { cutText, problemOf } from 'civic';
import type { Decisions } from '../candidates/decide.ts';
import { shownCandidate, type ShownCandidate } from '../candidates/shown.ts';
import { candidatesPage, countDecisions, DECISIONS } from '../candidates/store.ts';
import { checkMayDecide, type Discovery } from '../context.ts';
import { cancelRun } from '../runs/cancel.ts';
import { pageCounts, pagesPage } from '../runs/pages-store.ts';
import { foundRun, shownRuns, type ShownRun } from '../runs/runs.ts';
import type { RunRow } from '../runs/store.ts';
import { go, type RunPage } from './area.ts';
import { partOf, repeatedField, textField } from './fields.ts';
import { lastDecisionOf, noticeOf } from './notices.ts';
import { runOnPage } from './runs.ts';
import { issueName, namesFor, shownValue } from './values.ts';

const AT_ONCE = 25;
const SOURCES_AT_ONCE = 100;
/** What the list shows of a candidate besides its name. */
const FACTS = ['affiliation', 'description', 'event_start', 'event_location', 'place', 'website', 'email', 'phone'];
const MOST_FACTS = 4;
const LONGEST_FACT = 120;

/** Returns the run that the path names, if the owner has it. */
export function runOf({ civic }: Discovery, { request, owner }: RunPage): Promise<RunRow> {
  return foundRun(civic.db.read, owner, String(request.params.run));
}

/** Shows a run: how far it is, what it found, and its candidates with one decision. */
export async function showRun(discovery: Discovery, page: RunPage): Promise<ResponseObject> {
  const { civic } = discovery;
  const { request, t } = page;
  const row = await runOf(discovery, page);
  const decision = DECISIONS.find((one) => one === request.query['decision']) ?? 'pending';
  const { after, links } = partOf(request, AT_ONCE, ['number', 'integer'], { decision });
  const read = await civic.db.snapshot(async (tx) => ({
    run: (await shownRuns(discovery, tx, [row]))[0]!,
    counts: await countDecisions(tx, row.key),
    pages: await pageCounts(tx, row.key),
    candidates: (await candidatesPage(tx, { run_key: row.key, decision }, { after: after && { score: Number(after[0]), key: Number(after[1]) }, limit: AT_ONCE + 1 })).rows,
  }));
  const rows = read.candidates.slice(0, AT_ONCE);
  const last = rows.at(-1);
  return page.show({ template: 'discovery/run', title: row.location || t('run.untitled') }, {
    run: runOnPage(discovery, page, read.run), gaps: gapsOnPage(discovery, page, read.run), pages: read.pages, hasPages: read.run.counts.sources_found > 0, notice: noticeOf(page), last: await lastDecisionOf(discovery, page, row), decision, isPending: decision === 'pending',
    decisions: DECISIONS.map((one) => ({ decision: one, label: t(`decisions.${one}`), count: read.counts[one], isHere: one === decision })),
    candidates: await candidatesInList(discovery, page, rows.map(shownCandidate)), ...links(read.candidates.length > AT_ONCE ? [Number(last!.score), Number(last!.key)] : null),
    keys: page.canDecide ? keysOf(page, ['j', 'k', 'Enter', 'x', 'a', 'r', 'u']) : null,
  });
}

/** Returns what the run could not look at. `detail` is what the program reports, in English. */
function gapsOnPage({ directory }: Discovery, { t }: RunPage, { gaps }: ShownRun): object[] {
  return gaps.map(({ type, subject, count, detail }) => {
    const name = type === 'issue_area' ? issueName(directory, subject ?? '', t) : subject ?? '';
    return { text: type === 'page_budget' && subject !== null ? t('gaps.page_budget_of', { name, count }) : t(`gaps.${type}`, { name, count }), ...(type === 'search_engine' && { detail }) };
  });
}

async function candidatesInList({ civic, directory }: Discovery, { t }: RunPage, candidates: ShownCandidate[]): Promise<object[]> {
  const names = await namesFor(directory, civic.db.read, candidates.flatMap(({ claims }) => claims), t);
  return candidates.map(({ id, type, name, score, claims, sources: [source, ...others], match }) => {
    const facts = claims.filter(({ property }) => FACTS.includes(property)).map((claim) => cutText(shownValue(claim, names).text, LONGEST_FACT));
    return { id, name, typeText: t(`types.${type}`), score, match: match?.name, statements: new Set(claims.map(({ property, value }) => JSON.stringify([property, value]))).size, others: others.length, source: source && (source.title ?? source.url), facts: [...new Set(facts)].slice(0, MOST_FACTS).join(' · ') };
  });
}

/** Returns the keys of `assets/review.js` with what they do. */
export function keysOf({ t }: RunPage, keys: string[]): object[] {
  return [...keys, '?'].map((key) => ({ key, label: t(`keys.${key === '?' ? 'help' : key.toLowerCase()}`) }));
}

/** Cancels the run of the path. */
export async function cancelFromForm(discovery: Discovery, page: RunPage): Promise<ResponseObject> {
  const { id } = await runOf(discovery, page);
  await page.change((tx) => cancelRun(discovery, tx, page.owner, id)).catch((error: unknown) => {
    // It ended while the page was shown.
    if (problemOf(error)?.code !== 'run_ended') throw error;
  });
  return go(page, `/${id}`);
}

/** Accepts or rejects the selected candidates, each in a transaction of its own. Those that cannot be decided stay. */
export async function decideSelected(discovery: Discovery, decisions: Decisions, page: RunPage): Promise<ResponseObject> {
  const run = await runOf(discovery, page);
  checkMayDecide(page.caller, run);
  const decision = (['accept', 'reject'] as const).find((one) => one === textField(page.request, 'act'));
  const ids = [...new Set(repeatedField(page.request, 'candidate[]'))].slice(0, AT_ONCE);
  if (!decision || ids.length === 0) return go(page, `/${run.id}?done=none`);
  let failed = 0;
  for (const id of ids) {
    await page.change((tx, caller) => decisions.decide(tx, run, id, { decision }, caller)).catch((error: unknown) => {
      const status = problemOf(error)?.status ?? 500;
      if (status >= 500 || status === 403) throw error;
      failed++;
    });
  }
  return go(page, `/${run.id}?done=${decision === 'accept' ? 'accepted' : 'rejected'}&count=${ids.length - failed}&failed=${failed}`);
}

/** Shows the pages of a run, with what became of each. */
export async function showSources(discovery: Discovery, page: RunPage): Promise<ResponseObject> {
  const { t, request } = page;
  const row = await runOf(discovery, page);
  const { after, links } = partOf(request, SOURCES_AT_ONCE, ['integer']);
  const { rows, total } = await pagesPage(discovery.civic.db.read, row.key, { after: after && Number(after[0]), limit: SOURCES_AT_ONCE + 1 });
  const shown = rows.slice(0, SOURCES_AT_ONCE);
  return page.show({ template: 'discovery/sources', title: t('sources.title') }, {
    run: { id: row.id, location: row.location }, total, ...links(rows.length > SOURCES_AT_ONCE ? [Number(shown.at(-1)!.key)] : null),
    sources: shown.map(({ url, state, detail, title, found }) => ({ url, title, state, stateText: t(`page_states.${state}`), detail, found })),
  });
}


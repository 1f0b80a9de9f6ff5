import { isId } from 'civic';
import { candidateById } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import type { RunRow } from '../runs/store.ts';
import type { RunPage } from './area.ts';

const DONE = ['accepted', 'rejected', 'undone', 'saved', 'none'] as const;

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
export function noticeOf({ request: { query }, t }: RunPage): string | undefined {
  const done = DONE.find((one) => one === query['done']);
  if (!done) return undefined;
  const failed = numberIn(query['failed']);
  return [t(`done.${done}`, { count: numberIn(query['count']) }), ...(failed > 0 ? [t('done.failed', { count: failed })] : [])].join(' ');
}

function numberIn(text: unknown): number {
  return /^\d{1,4}$/.test(String(text)) ? Number(text) : 0;
}

/** What the reviewer decided just before, with a button that undoes it. */
export interface LastDecision {
  id: string;
  text: string;
}

/** Returns the decision that the address names, as it is stored. */
export async function lastDecisionOf({ civic }: Discovery, { request: { query }, t }: RunPage, run: RunRow): Promise<LastDecision | null> {
  const id = String(query['last']).toLowerCase();
  const candidate = isId(id) ? await candidateById(civic.db.read, run.key, id) : undefined;
  return candidate && candidate.decision !== 'pending' ? { id: candidate.id, text: t(`last.${candidate.decision}`, { name: candidate.name }) } : null;
}

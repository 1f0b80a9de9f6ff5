import type { AccountsService } from 'civic/accounts';
import type { Ingest } from '../context.ts';
import { totalOf } from '../sources/store.ts';
import type { SourcePage } from './area.ts';

/** How many sources the plan of a member has, and how many the workspace uses. */
export interface Quota {
  used: number;
  most: number;
  isFull: boolean;
  /** Whether the plan has no sources at all. */
  isNone: boolean;
  /** The plans with more, as "Team (500)". */
  larger: string;
}

/** Returns the numbers of a workspace; null in the console, where there is no limit. */
export async function quotaOf({ civic }: Ingest, accounts: AccountsService, { owner: { workspace_id, most }, t }: SourcePage): Promise<Quota | null> {
  if (workspace_id === null) return null;
  const used = await totalOf(civic.db.read, workspace_id);
  const larger = accounts.plans().map(({ name, limits }) => ({ name, most: limits['source_watches'] ?? 0 })).filter((plan) => plan.most > most).toSorted((a, b) => a.most - b.most);
  return { used, most, isFull: used >= most, isNone: most === 0, larger: larger.map((plan) => `${titleOf(plan.name)} (${t.formatNumber(plan.most)})`).join(', ') };
}

/** Returns `research_pass` as people read it. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

import { isId, type Language, type Texts } from 'civic';
import type { AuditRow } from '../audit/chain.ts';
import { latestAudit } from '../audit/store.ts';
import { namesById } from '../people/store.ts';
import type { Accounts } from '../service.ts';
import { when, type When } from '../settings/words.ts';
import { eventLabel } from './words.ts';

/** A security event of the instance, as pages show it. */
export interface RecentEvent {
  seq: number;
  at: When | null;
  /** A text, or with `plugin` the key of a text of that plugin. */
  label: string;
  plugin?: string;
  what?: string;
  /** The account that it is about; null when it is about none. */
  of: { id: string; name: string } | null;
  /** The name of the account that caused it; null for the system and the command line. */
  by: string | null;
  address: string | null;
}

type Context = Pick<Accounts, 'civic' | 'auditKinds'>;

/** Returns the latest security events of the instance, before an entry of the record when it is given. */
export async function recentEvents({ civic, auditKinds }: Context, language: Language, limit: number, before: number | null = null): Promise<RecentEvent[]> {
  const t = await civic.texts(language);
  const rows = await latestAudit(civic.db.read, before, limit);
  const names = await namesById(civic.db.read, rows.flatMap((row) => [...candidatesOf(row), row.account_id ?? []].flat()));
  return rows.map((row) => shown(row, names, { t, now: civic.clock.now(), auditKinds }));
}

function shown(row: AuditRow, names: Map<string, string>, { t, now, auditKinds }: { t: Texts; now: number } & Pick<Context, 'auditKinds'>): RecentEvent {
  const by = row.account_id === null ? null : names.get(row.account_id) ?? row.account_id;
  const of = candidatesOf(row).find((id) => names.has(id));
  return { seq: row.seq, at: when(row.at, now, t), ...eventLabel(row, auditKinds, t), of: of === undefined ? null : { id: of, name: names.get(of)! }, by, address: row.address };
}

/** Returns the ids that may be the account of an event, the likeliest first: the subject of some kinds is a key, a session or an invitation. */
function candidatesOf({ subject, detail, account_id }: AuditRow): string[] {
  return [(detail as { account_id?: unknown }).account_id, subject, account_id].filter((id): id is string => typeof id === 'string' && isId(id));
}

import type { Reader, Texts } from 'civic';
import type { Flags } from '../flags.ts';
import { SEVERITIES, severityOf } from '../review/severity.ts';
import type { FlagRow } from '../store.ts';
import { knownType, type Target } from '../types.ts';

/** The name of a target and the path of its page; null when the instance has none. */
export interface TargetName {
  name: string;
  href: string | null;
}

export type TargetNames = (target: Target) => TargetName;

/** Returns the names of targets in a statement for each type. A target that no longer exists is named by its id. */
export async function targetNames({ directory }: Flags, reader: Reader, targets: Target[]): Promise<TargetNames> {
  const idsOf = (type: Target['type']) => [...new Set(targets.filter((target) => target.type === type).map(({ id }) => id))];
  const [actors, sources, places] = await Promise.all([directory.actorNames(reader, idsOf('entity')), directory.sourceNames(reader, idsOf('source')), directory.places(reader, idsOf('place'))]);
  const { pages } = directory.links;
  return ({ type, id }) => {
    if (type === 'place') return { name: places.get(id)?.display_name ?? id, href: places.has(id) ? pages.place?.(id) ?? null : null };
    const source = sources.get(id);
    if (type === 'source') return { name: source?.title ?? source?.url ?? id, href: source ? pages.source?.(id) ?? null : null };
    return { name: actors.get(id) ?? id, href: actors.has(id) ? pages.actor?.(id) ?? null : null };
  };
}

/** Returns the severity of a flag and its label. */
export function shownSeverity({ flag_type }: Pick<FlagRow, 'flag_type'>, t: Texts): { severity: string; severityLabel: string } {
  const severity = SEVERITIES[severityOf(knownType(flag_type))]!;
  return { severity, severityLabel: t(`queue.severities.${severity}`) };
}

/** Returns the names of accounts by id, for the pages of reviewers. */
export async function accountNames(accounts: { account(reader: Reader, id: string): Promise<{ name: string } | null> }, reader: Reader, ids: (string | null)[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const id of new Set(ids.filter((one) => one !== null))) {
    const account = await accounts.account(reader, id);
    if (account) names.set(id, account.name);
  }
  return names;
}

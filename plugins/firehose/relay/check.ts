import type { Check, CheckResult, Clock, Database } from 'civic';
import { relayRow, type RelayRow } from './store.ts';

/** So long nothing may be heard before somebody should look. */
const SILENT_SECONDS = 90;

/** OriginMessage from what the node that follows has written, so that every node and `doctor` say the same. */
export function relayCheck(url: string, clock: Clock, db: () => Database): Check {
  return {
    name: 'relay',
    readiness: true,
    run: async () => stateOf(url, await relayRow(db().read, url), clock.now()),
  };
}

function stateOf(url: string, row: RelayRow | null, now: number): CheckResult {
  if (row?.fault) return { status: 'warning', detail: `${row.fault}${lastHeard(row, now)}`, fix: row.fix ?? undefined };
  if (!row || row.heard === null) return { status: 'warning', detail: `${url} was not heard yet`, fix: 'start the server, and look again in a minute' };
  const silent = secondsSince(row.heard, now);
  if (silent > SILENT_SECONDS) return { status: 'warning', detail: `Nobody has followed ${url} for ${silent} s`, fix: 'start the server' };
  const distance = row.behind === 0 ? 'nothing is missing' : `${row.behind} lines behind`;
  return { status: 'ok', detail: `follows ${url}: ${distance}, heard ${silent} s ago` };
}

function lastHeard({ heard }: RelayRow, now: number): string {
  return heard === null ? '' : `; last heard ${secondsSince(heard, now)} s ago`;
}

function secondsSince(moment: number, now: number): number {
  return Math.max(0, Math.round((now - moment) / 1000));
}

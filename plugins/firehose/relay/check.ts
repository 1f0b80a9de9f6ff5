import type { Check, CheckResult, Clock, Database } from 'civic';
import { relayRow, type RelayRow } from './store.ts';

/** After this long without a message of the origin, the check warns. */
const SILENT_SECONDS = 90;

/** Reads the state that the following node has stored, so that all nodes and `doctor` report the same. */
export function relayCheck(url: string, clock: Clock, db: () => Database): Check {
  return {
    name: 'relay',
    readiness: true,
    run: async () => stateOf(url, await relayRow(db().read, url), clock.now()),
  };
}

function stateOf(url: string, row: RelayRow | null, now: number): CheckResult {
  if (row?.fault) return { status: 'warning', detail: `${row.fault}${lastMessage(row, now)}`, fix: row.fix ?? undefined };
  if (!row || row.heard === null) return { status: 'warning', detail: `${url} has sent nothing yet`, fix: 'start the server, and check again in a minute' };
  const silent = secondsSince(row.heard, now);
  if (silent > SILENT_SECONDS) return { status: 'warning', detail: `No node has followed ${url} for ${silent} s`, fix: 'start the server' };
  const distance = row.behind === 0 ? 'up to date' : `${row.behind} entries behind`;
  return { status: 'ok', detail: `follows ${url}: ${distance}, last message ${silent} s ago` };
}

function lastMessage({ heard }: RelayRow, now: number): string {
  return heard === null ? '' : `; last message ${secondsSince(heard, now)} s ago`;
}

function secondsSince(moment: number, now: number): number {
  return Math.max(0, Math.round((now - moment) / 1000));
}

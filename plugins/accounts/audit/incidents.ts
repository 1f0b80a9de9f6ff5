import type { Request } from '@hapi/hapi';
import { addressGroup, clientAddressOf, type Clock } from 'civic';
import type { AuditEntry } from './store.ts';

/** A refused attempt, such as a forged form. Its kind is declared with `auditKinds`. */
export interface Incident<Kind extends string = string> extends Omit<AuditEntry<Kind>, 'by'> {
  account_id?: string | null;
}

/** Adds a refused attempt to the audit record. Await it before the response, so that a client cannot learn of a refusal that is not recorded. */
export type RecordIncident<Kind extends string = string> = (request: Request, incident: Incident<Kind>) => Promise<void>;

const WINDOW_MS = 60_000;
const MOST_COUNTERS = 10_000;

/** Returns a function that records at most `mostPerMinute` incidents of a kind from one address: an attacker cannot fill the record. */
export function createIncidents(clock: Clock, mostPerMinute: number, record: (entry: AuditEntry<string>) => Promise<void>): RecordIncident {
  const counters = new Map<string, { since: number; count: number }>();

  function isWithinLimit(key: string): boolean {
    const now = clock.now();
    const counter = counters.get(key);
    if (counter && now - counter.since < WINDOW_MS) return ++counter.count <= mostPerMinute;
    if (counters.size >= MOST_COUNTERS) counters.clear();
    counters.set(key, { since: now, count: 1 });
    return true;
  }

  return async (request, { account_id = null, ...incident }) => {
    const address = clientAddressOf(request);
    if (!isWithinLimit(`${incident.kind} ${addressGroup(address)}`)) return;
    const detail = incident.detail && Object.fromEntries(Object.entries(incident.detail).map(([name, value]) => [name, typeof value === 'string' ? storable(value) : value]));
    await record({ ...incident, subject: incident.subject && storable(incident.subject), detail, by: { account_id, address } });
  };
}

const MOST_CHARACTERS = 300;

/** Shortens a text that a client chose, and removes what Postgres cannot store: U+0000 and halves of surrogate pairs. */
function storable(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replaceAll(/[\p{Cc}\p{Cs}]/gu, '');
}

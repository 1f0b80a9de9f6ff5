import type { ClaimRow, SourceRow } from '../ledger/rows.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { Actor, Claim, ClaimValue, Source } from '../types.ts';
import { type ActorRow, UNTOLD } from './derive.ts';
import { flagsOf } from './flags.ts';
import { dayOf, freshnessOn } from './freshness.ts';

/** What the text of an actor depends on besides its row. */
export interface Telling {
  /** Milliseconds. */
  now: number;
  url(path: string): string;
  policy: FieldPolicy;
  /** What rows that were derived now have as `model`. */
  model: number;
}

/** After so many days without a check a source is no longer fresh. */
export const SOURCE_HALF_LIFE_DAYS = 365;

/** The wire record as JSON text: the stored body with what depends on the day and on the address. */
export function actorText(row: Pick<ActorRow, 'id' | 'body' | 'fresh_until' | 'aging_until' | 'model'>, { now, url, policy, model }: Telling): string {
  const status = freshnessOn(dayOf(now), row);
  const body = row.model === model ? row.body : redacted(row.body, policy);
  const at = body.indexOf(UNTOLD);
  return `${body.slice(0, at)}"freshness":{"status":"${status}"${body.slice(at + UNTOLD.length, -1)},"url":${JSON.stringify(url(`/api/entities/${row.id}`))}}`;
}

/** The row was derived under another policy and waits for its rebuild. */
function redacted(body: string, policy: FieldPolicy): string {
  const actor = JSON.parse(body) as Omit<Actor, 'url'>;
  policy.redact(actor);
  return JSON.stringify(actor);
}

/** With further members, each already JSON text. */
export function withMembers(text: string, members: Record<string, string>): string {
  return `${text.slice(0, -1)}${Object.entries(members).map(([name, value]) => `,"${name}":${value}`).join('')}}`;
}

export function claimOf(row: ClaimRow, sourceId: string): Claim {
  return {
    id: row.id,
    property: row.property,
    value: JSON.parse(row.value) as ClaimValue,
    rank: row.rank,
    confidence: row.confidence,
    method: row.method,
    source_id: sourceId,
    excerpt: row.excerpt,
    locator: row.locator_start === null || row.locator_end === null ? null : { start: row.locator_start, end: row.locator_end },
    first_seen_at: row.first_seen_at,
    last_seen_at: row.last_seen_at,
    expires_at: row.expires_at,
    status: row.status,
  };
}

export function sourceOf(row: SourceRow, entityIds: string[], now: number): Source {
  const seen = Math.min(dayOf(row.last_checked_at ?? row.retrieved_at), dayOf(now));
  const days = { fresh_until: seen + SOURCE_HALF_LIFE_DAYS, aging_until: seen + 2 * SOURCE_HALF_LIFE_DAYS };
  return {
    id: row.id,
    url: row.url,
    title: row.title,
    publication: row.publication,
    kind: row.kind,
    published_at: row.published_at,
    retrieved_at: row.retrieved_at,
    excerpt: row.excerpt,
    content_hash: row.content_hash,
    archived: Boolean(row.archived),
    entity_ids: entityIds,
    freshness: { status: freshnessOn(dayOf(now), days), last_seen_at: row.retrieved_at, last_verified_at: row.last_checked_at, latest_source_at: row.published_at },
    flags: flagsOf([row]),
    url_status: row.url_status,
    last_checked_at: row.last_checked_at,
  };
}

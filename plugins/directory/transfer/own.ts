import { isId } from 'civic';
import { groupBy } from '../ledger/group.ts';
import { ACTOR_TYPES, PROPERTIES, type ActorDetail, type ActorDraft, type Assessed, type Claim, type ClaimDraft, type Source, type SourceDraft } from '../types.ts';
import type { ExportedActor, JudgementLine, PlaceLine } from './format.ts';
import { judgementSchema, placeSchema, validLine } from './own-schemas.ts';
import { asList } from './row.ts';

/** A claim as our own exports have it: with the record it was said of, where that was merged into another. */
export type OwnClaim = Claim & { record_id?: string };

/** A source as our own exports have it: without what is worked out, and without its other actors, who may be a million. */
export type OwnSource = Omit<Source, 'entity_ids' | keyof Assessed>;

/** An actor as our own exports have it: its wire form, with claims and sources and what is needed to take it apart again. */
export interface OwnActor extends Omit<ActorDetail, 'claims' | 'sources' | 'url' | keyof Assessed> {
  claims: OwnClaim[];
  sources: OwnSource[];
  merged: { id: string; created_at: string; updated_at: string }[];
  origins: { record_id: string; origin: string }[];
}

export function ownActor({ actor, merged, origins }: ExportedActor): OwnActor {
  const recordOf = new Map(merged.flatMap(({ id, claim_ids }) => claim_ids.map((claim) => [claim, id] as const)));
  const { freshness: _freshness, flags: _flags, url: _url, claims, sources, ...rest } = actor;
  return {
    ...rest,
    claims: claims.map((claim) => (recordOf.has(claim.id) ? { ...claim, record_id: recordOf.get(claim.id)! } : claim)),
    sources: sources.map(({ entity_ids: _ids, freshness: _fresh, flags: _counts, ...source }) => source),
    merged: merged.map(({ id, created_at, updated_at }) => ({ id, created_at, updated_at })),
    origins,
  };
}

/** Takes an actor apart into the records it was made of: its own first. What is no actor is told in words. */
export function draftsOf(actor: Partial<OwnActor>): ActorDraft[] | string {
  const fault = faultOf(actor);
  if (fault) return fault;
  const { id, type, visibility, created_at, updated_at, claims, sources, merged, origins } = actor as OwnActor;
  const records = [{ id, created_at, updated_at }, ...asList(merged)];
  const claimsByRecord = groupBy(claims, (claim) => claim.record_id ?? id);
  const sourcesById = groupBy(asList(sources), (source) => source.id);
  const order = new Map([...sourcesById.keys()].map((each, at) => [each, at]));
  const originByRecord = new Map(asList(origins).map((each) => [each.record_id, each.origin]).reverse() as [string, string][]);
  return records.map((record): ActorDraft => {
    const said = claimsByRecord.get(record.id) ?? [];
    const behind = new Set(said.map((claim) => claim.source_id).filter((source) => order.has(source)));
    const origin = originByRecord.get(record.id);
    return {
      id: record.id,
      type,
      visibility,
      created_at: record.created_at,
      updated_at: record.updated_at,
      ...(origin === undefined ? {} : { origin }),
      sources: [...behind].sort((a, b) => order.get(a)! - order.get(b)!).flatMap((source) => sourcesById.get(source) ?? []).map(sourceDraft),
      claims: said.map(claimDraft),
    };
  });
}

function sourceDraft({ id, url, title, publication, kind, published_at, retrieved_at, excerpt, content_hash }: OwnSource): SourceDraft {
  return { local_id: id, ...(isId(id) ? { id } : {}), url, title, publication, kind, published_at, retrieved_at, excerpt, content_hash };
}

function claimDraft({ source_id, record_id: _record, ...claim }: OwnClaim): ClaimDraft {
  return { ...claim, source_local_id: source_id };
}

/** Checks the structure; the ledger checks the members of claims and sources. */
function faultOf({ id, type, claims, sources, merged, origins }: Partial<OwnActor>): string | null {
  if (id !== undefined && !isId(id)) return `its id is no UUID: ${String(id).slice(0, 60)}`;
  if (!ACTOR_TYPES.some((known) => known === type)) return `its type is ${type === undefined ? 'missing' : `"${String(type).slice(0, 40)}"`}: use one of ${ACTOR_TYPES.join(', ')}`;
  if (!Array.isArray(sources) || sources.length === 0) return 'it has no sources';
  if (!Array.isArray(claims) || claims.length === 0) return 'it has no claims';
  for (const [member, list] of Object.entries({ sources, claims, merged, origins })) {
    const at = Array.isArray(list) ? list.findIndex((one) => !isObject(one)) : -1;
    if (at >= 0) return `/${member}/${at}: must be an object`;
    if (list !== undefined && list !== null && !Array.isArray(list)) return `/${member}: must be a list`;
  }
  const at = claims.findIndex((claim) => !PROPERTIES.some((known) => known === claim.property));
  return at < 0 ? null : `/claims/${at}/property: a claim has the property "${String(claims[at]!.property).slice(0, 40)}", which is not known`;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function judgementOf(line: unknown): JudgementLine | string {
  return validLine(judgementSchema, line, '/judgement');
}

/** A place that was added to the gazetteer of the instance that wrote the file. */
export function placeOf(line: unknown): PlaceLine | string {
  return validLine(placeSchema, line, '/place');
}

import type { Reader } from 'civic';
import { typeOf, type Cluster, type Known } from '../actors/derive.ts';
import type { DraftFault } from '../ledger/service.ts';
import { sourcesByUrl } from '../ledger/store.ts';
import type { ActorDraft, ActorType, ClaimDraft, SourceDraft, Visibility } from '../types.ts';
import type { FieldPolicy } from './fields.ts';

/** Returns the cluster without the claims that the policy hides, so that nothing that is read is derived from them. */
export function withoutHiddenClaims(cluster: Cluster, { sources, now }: Pick<Known, 'sources' | 'now'>, policy: FieldPolicy): Cluster {
  const [canonical] = cluster.records;
  if (!canonical || canonical.visibility !== 'public') return cluster;
  const type = typeOf(cluster.claims, now);
  if (type === null || !policy.rules.some((rule) => rule.type === type)) return cluster;
  const actor = { type, visibility: canonical.visibility };
  return { ...cluster, claims: cluster.claims.filter(({ property, source_key }) => !policy.hides(actor, property, sources.get(source_key)!)) };
}

/** Claims that are about to be entered, with the type of their actor. */
export interface NewClaims {
  type: ActorType;
  visibility: Visibility;
  sources: SourceDraft[];
  claims: ClaimDraft[];
}

/** Returns the claims among new ones that the policy would hide, with pointers below `/claims`. A source that is known keeps its kind. */
export async function hiddenClaims(reader: Reader, drafts: NewClaims[], policy: FieldPolicy): Promise<{ claim: ClaimDraft; fault: DraftFault }[][]> {
  const policed = drafts.map((draft) => (draft.visibility === 'public' ? draft.claims.filter(({ property }) => policy.ruleOf(draft.type, property) !== 'public') : []));
  if (policed.every((claims) => claims.length === 0)) return drafts.map(() => []);
  const urls = drafts.map(({ sources }) => new Map(sources.map((source) => [source.local_id, source])));
  const cited = new Set(policed.flatMap((claims, at) => claims.map(({ source_local_id: id }) => urls[at]!.get(id)!.url)));
  const known = new Map((await sourcesByUrl(reader, [...cited], null)).map(({ url, kind }) => [url, kind]));
  return drafts.map(({ type, visibility, claims }, at) => policed[at]!.flatMap((claim) => {
    const { url, kind = 'other' } = urls[at]!.get(claim.source_local_id)!;
    const stored = known.get(url) ?? 'other';
    if (!policy.hides({ type, visibility }, claim.property, { url, kind: stored === 'other' ? kind : stored })) return [];
    return [{ claim, fault: { pointer: `/claims/${claims.indexOf(claim)}`, detail: reasonOf(type, claim.property, policy) } }];
  }));
}

function reasonOf(type: ActorType, property: ClaimDraft['property'], policy: FieldPolicy): string {
  const unless = policy.ruleOf(type, property) === 'official' ? ' unless the source is official' : '';
  return `the field policy keeps the ${property} of a public ${type} private${unless}`;
}

/** Returns the draft without claims, and without sources that only these claims cite. */
export function withoutClaims(draft: ActorDraft, hidden: ClaimDraft[]): ActorDraft {
  if (hidden.length === 0) return draft;
  const claims = draft.claims.filter((claim) => !hidden.includes(claim));
  const cited = new Set(claims.map(({ source_local_id }) => source_local_id));
  const dropped = new Set(hidden.map(({ source_local_id }) => source_local_id));
  return { ...draft, claims, sources: draft.sources.filter(({ local_id }) => cited.has(local_id) || !dropped.has(local_id)) };
}

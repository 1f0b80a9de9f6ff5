import { byWeight, counts } from '../actors/choose.ts';
import { dayOf, freshnessDays, freshnessOn, type HalfLives } from '../actors/freshness.ts';
import { claimOf, sourceOf } from '../actors/wire.ts';
import { groupBy } from '../ledger/group.ts';
import type { ClaimRow, SourceRow } from '../ledger/rows.ts';
import type { Claim, ClaimValue, FreshnessStatus, Property, Source } from '../types.ts';

/** A value of a property, with every claim that states it. */
export interface StatedValue {
  property: Property;
  value: ClaimValue;
  /** The best first. */
  claims: StatedClaim[];
  /** Whether a claim of it holds: none does when all are deprecated or have ended. */
  isCurrent: boolean;
}

export interface StatedClaim extends Claim {
  source: Source;
  freshness: FreshnessStatus;
}

export interface StatementContext {
  halfLives: HalfLives;
  /** Milliseconds. */
  now: number;
}

/** Returns the values that claims state, by property, in the order in which the directory prefers them. Sources name no actors. */
export function statedValues(claims: ClaimRow[], sources: SourceRow[], context: StatementContext): StatedValue[] {
  const now = new Date(context.now).toISOString();
  const records = new Map(sources.map((row) => [row.key, sourceOf(row, [], context.now)]));
  const best = claims.toSorted((a, b) => Number(counts(b, now)) - Number(counts(a, now)) || byWeight(a, b));
  return [...groupBy(best, ({ property, value }) => `${property} ${value}`).values()].map((rows) => ({
    property: rows[0]!.property,
    value: JSON.parse(rows[0]!.value) as ClaimValue,
    isCurrent: counts(rows[0]!, now),
    claims: rows.map((row) => {
      const source = records.get(row.source_key)!;
      return { ...claimOf(row, source.id), source, freshness: freshnessOf(row, context, now) };
    }),
  }));
}

function freshnessOf(claim: ClaimRow, { halfLives, now }: StatementContext, time: string): FreshnessStatus {
  return freshnessOn(dayOf(now), freshnessDays([claim], halfLives, time));
}

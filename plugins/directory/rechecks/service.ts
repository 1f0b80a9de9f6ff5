import type { Civic, Reader } from 'civic';
import type { Doer } from 'civic/accounts';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { policedActor } from '../actors/detail.ts';
import type { HalfLives } from '../actors/freshness.ts';
import { actorsByKey } from '../actors/read-store.ts';
import { sourceRecords } from '../actors/sources.ts';
import { claimOf } from '../actors/wire.ts';
import { groupBy } from '../ledger/group.ts';
import type { Ledger } from '../ledger/service.ts';
import { sourcesByKey } from '../ledger/store.ts';
import type { Actor, Claim, Editor, Source } from '../types.ts';
import { publicSource, statementsOf, type NamedStatement } from './confirm.ts';
import { WEIGHTS } from './impact.ts';
import { dueTimes, refreshSource } from './queue.ts';
import { countQueue, dueClaims, queuePage, type RecheckRow } from './store.ts';

export interface RecheckContext extends DirectoryContext {
  civic: DirectoryContext['civic'] & Pick<Civic, 'serviceIfOn'>;
  ledger: Ledger;
  halfLives: HalfLives;
}

/** A source that should be checked again, with the first of its statements that are past their half-life. */
export interface Recheck {
  source: Source;
  impact: number;
  cited: number;
  due: number;
  statements: { entity: Pick<Actor, 'id' | 'name' | 'type'>; claim: Claim }[];
}

export const OUTCOMES = ['confirmed', 'retracted', 'broken'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Of one source: a register may have a million. */
const MOST_STATEMENTS = 10;

/** Returns a page of the queue, the highest impact first. */
export async function listRechecks(context: RecheckContext, reader: Reader, { limit, after }: { limit: number; after: (string | number)[] | null }): Promise<{ data: Recheck[]; total: number; next: number[] | null }> {
  const rows = await queuePage(reader, limit, after);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { data: await withStatements(context, reader, shown), total: await countQueue(reader), next: rows.length > limit ? [last!.impact, Number(last!.source_key)] : null };
}

async function withStatements(context: RecheckContext, reader: Reader, rows: RecheckRow[]): Promise<Recheck[]> {
  const { halfLives, policy } = context;
  const telling = tellingOf(context);
  const { now } = telling;
  const sources = new Map((await sourcesByKey(reader, rows.map(({ source_key }) => Number(source_key)))).map((source) => [source.key, source]));
  const records = new Map((await sourceRecords(reader, [...sources.values()], telling)).map((record) => [record.id, record]));
  const claims = (await Promise.all(rows.map((row) => dueClaims(reader, row, dueTimes(halfLives, now), new Date(now).toISOString(), MOST_STATEMENTS)))).flat();
  const actors = new Map((await actorsByKey(reader, [...new Set(claims.map(({ actor_key }) => Number(actor_key)))])).map((actor) => [actor.key, actor]));
  const bySource = groupBy(claims, ({ source_key }) => Number(source_key));
  return rows.flatMap(({ source_key, impact, cited, due }): Recheck[] => {
    const source = sources.get(Number(source_key));
    if (!source) return [];
    const shown = (bySource.get(source.key) ?? []).filter(({ actor_key, property }) => !policy.hides(policedActor(actors.get(Number(actor_key))!), property, source));
    return [{
      source: records.get(source.id)!, impact, cited, due,
      statements: shown.toSorted((a, b) => WEIGHTS[b.property] - WEIGHTS[a.property]).map((claim) => {
        const { id, name, type } = JSON.parse(actors.get(Number(claim.actor_key))!.body) as Actor;
        return { entity: { id, name, type }, claim: claimOf(claim, source.id) };
      }),
    }];
  });
}

/** Stores what a reviewer found: statements that are still true, statements to retract, or that the address of the source is broken. Each is in the audit record. */
export async function recordCheck(context: RecheckContext, sourceId: string, { outcome, statements }: { outcome: Outcome; statements: NamedStatement[] }, by: { editor: Editor; doer: Doer }): Promise<void> {
  const { civic, ledger } = context;
  await civic.db.write(async (tx) => {
    const source = await publicSource(tx, sourceId);
    const found = await statementsOf(tx, source, statements);
    if (outcome === 'broken') await ledger.setUrlStatus(tx, source.id, { url_status: 'broken', last_checked_at: civic.clock.iso() }, by.editor.kind);
    else if (outcome === 'confirmed') await ledger.confirm(tx, source, found, by.editor);
    else {
      await ledger.setUrlStatus(tx, source.id, { url_status: 'ok', last_checked_at: civic.clock.iso() }, by.editor.kind);
      for (const some of groupBy(found, ({ record }) => record.actor_key).values()) await ledger.patch(tx, some[0]!.entity_id, { sources: [], add: [], rank: [], retract: some.map(({ claim }) => claim.id) }, by.editor);
    }
    await refreshSource(tx, source.key, found.map(({ record }) => record.key), context);
    await civic.serviceIfOn('accounts')?.record(tx, { kind: `directory_recheck_${outcome}`, by: by.doer, subject: source.id, detail: { statements: statements.map(({ claim_id }) => claim_id) } });
  });
}

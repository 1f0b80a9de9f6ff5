import type { ServerRoute } from '@hapi/hapi';
import { lazily, isId, Joi, listText, pageOf, problem, singleLine, textAnswer, textEtag, type Page, type PositionShape, type Reader, type TextList } from 'civic';
import { callerOf, workspaceBeside } from '../access.ts';
import { recordsOfActors, sourceById } from '../ledger/store.ts';
import { CLAIM_STATUSES, PROPERTIES, type ClaimStatus, type Property } from '../types.ts';
import { tellingOf, type DirectoryContext } from './context.ts';
import { backingOf, CLAIM_POSITION, claimPosition, policedActor, SOURCE_POSITION } from './detail.ts';
import { historyPage } from './history.ts';
import { entitySources, relatedEntities } from './part-reads.ts';
import { sliceAfter } from './position.ts';
import type { ShownActor } from './read-store.ts';
import { RELATED_POSITION } from './related.ts';
import { shownActor } from './reads.ts';
import { claimSchema, duplicateItem, historyItem, listOf, paging, relatedItem, sourceSchema } from './schemas.ts';
import { sourceRecords } from './sources.ts';
import type { Verdict } from '../matching/judge.ts';
import { actorText, claimOf } from './wire.ts';

const loadFind = lazily(() => import('../matching/find.ts'));

export const sourceList = listOf(sourceSchema).meta({ name: 'SourceList' });
export const relatedList = listOf(relatedItem).meta({ name: 'RelatedActorList' });

const params = Joi.object({ id: Joi.string() });

interface Part {
  path: string;
  description: string;
  notes: string;
  query: Joi.ObjectSchema;
  schema: Joi.Schema;
  /** Of the cursor, where there is one. */
  position?: PositionShape;
  /** The texts of the page's items, how many there are in all, and where the next page begins. */
  read(reader: Reader, actor: ShownActor, page: Page): Promise<TextList>;
}

/** What there is of one actor besides itself. */
export function actorPartRoutes(context: DirectoryContext): ServerRoute[] {
  const parts: Part[] = [
    {
      path: 'sources',
      description: 'The sources of an actor, the newest first',
      notes: 'Sources of all claims that are shown, by the time they were retrieved.',
      query: Joi.object(paging),
      schema: sourceList,
      position: SOURCE_POSITION,
      read: (reader, actor, page) => entitySources(context, reader, actor, page),
    },
    {
      path: 'claims',
      description: 'The claims about an actor, retracted ones too',
      notes: 'Every statement with its source, excerpt, rank, confidence and the times it was first and last seen.',
      query: Joi.object({ property: Joi.string().valid(...PROPERTIES), status: Joi.string().valid(...CLAIM_STATUSES.filter((status) => status !== 'hidden')), ...paging }),
      schema: listOf(claimSchema).meta({ name: 'ClaimList' }),
      position: CLAIM_POSITION,
      async read(reader, actor, { query, limit, after }) {
        const wanted = query as { property?: Property; status?: ClaimStatus };
        const { claims, sources } = (await backingOf(reader, [actor], context.policy, ({ property, status }) => status !== 'hidden'
          && (!wanted.property || property === wanted.property) && (!wanted.status || status === wanted.status))).get(actor.key)!;
        const ids = new Map(sources.map(({ key, id }) => [key, id]));
        const { rows, next } = sliceAfter(claims, (claim) => claimPosition(actor.key, claim), after, limit);
        return { data: rows.map((claim) => JSON.stringify(claimOf(claim, ids.get(claim.source_key)!))), total: claims.length, next };
      },
    },
    {
      path: 'history',
      description: 'Who changed what, when, from which source; the latest first',
      notes: 'Editors are named by their kind, never by their account.',
      query: Joi.object(paging),
      schema: listOf(historyItem).meta({ name: 'ChangeList' }),
      position: ['integer'],
      async read(reader, actor, { limit, after }) {
        const records = await recordsOfActors(reader, [actor.key]);
        const { items, total, next } = await historyPage(reader, records, { before: after ? Number(after[0]) : null, limit }, {
          sees: ({ visibility, workspace_id }) => visibility === 'public' || workspace_id === workspaceBeside(actor),
          hides: (claim, source) => context.policy.hides(policedActor(actor), claim.property, source),
        });
        return { data: items.map((item) => JSON.stringify(item)), total, next };
      },
    },
    {
      path: 'related',
      description: 'Actors that share an affiliation, a source, an issue area or a place, with the evidence',
      notes: 'Sorted by score. `evidence` names what the two have in common.',
      query: Joi.object(paging),
      schema: relatedList,
      position: RELATED_POSITION,
      read: (reader, actor, page) => relatedEntities(context, reader, actor, page),
    },
    {
      path: 'duplicates',
      description: 'Actors that may be the same one, surest first, with what speaks for and against it field by field',
      notes: 'Nothing is merged by this. Pairs that were judged to be different are left out.',
      query: Joi.object({ limit: paging.limit }),
      schema: listOf(duplicateItem).meta({ name: 'PossibleDuplicateList' }),
      async read(reader, actor, { limit }) {
        const { duplicatesOf } = await loadFind();
        const found = await duplicatesOf(reader, actor, workspaceBeside(actor), context.policy);
        const data = found.slice(0, limit).map(({ actor: other, verdict }) => `{"entity":${actorText(other, tellingOf(context))},${verdictText(verdict)}}`);
        return { data, total: found.length, next: null };
      },
    },
  ];
  return [...parts.map((part) => partRoute(context, part)), sourceRoute(context)];
}

function verdictText({ zone, probability, rule, explanation }: Verdict): string {
  const shown = explanation.map(({ field, level, left, right, weight }) => ({ field, level, left, right, weight }));
  return JSON.stringify({ zone, score: Math.round(1000 * probability) / 1000, rule, explanation: shown }).slice(1, -1);
}

function partRoute(context: DirectoryContext, { path, description, notes, query, schema, position = [], read }: Part): ServerRoute {
  return {
    method: 'GET',
    path: `/api/entities/{id}/${path}`,
    options: {
      description,
      notes,
      validate: { query, params },
      plugins: { civic: { conditional: true, problems: ['unknown_actor', ...(query.describe().keys.cursor ? ['invalid_cursor'] : [])] } },
      response: { schema, sample: 0 },
    },
    async handler(request, h) {
      const page = pageOf(request, position);
      const { visibility, ...list } = await context.civic.db.snapshot(async (tx) => {
        const actor = await shownActor(tx, callerOf(request), String(request.params.id), context.civic.url);
        return { visibility: actor.visibility, ...await read(tx, actor, page) };
      });
      const { body, headers } = listText(request, page, list);
      return textAnswer(request, h, { body, headers, etag: textEtag(body), ...(visibility !== 'public' && { cacheControl: 'private, no-store' }) });
    },
  };
}

function sourceRoute(context: DirectoryContext): ServerRoute {
  const { civic } = context;
  return {
    method: 'GET',
    path: '/api/sources/{id}',
    options: {
      description: 'One source, with the actors that cite it',
      notes: 'A source exists for a caller who may see an actor that cites it; `entity_ids` names only those.',
      validate: { query: Joi.object({}), params },
      plugins: { civic: { conditional: true, problems: ['unknown_source'] } },
      response: { schema: sourceSchema, sample: 0 },
    },
    async handler(request, h) {
      const id = String(request.params.id);
      const { record, isPublic } = await civic.db.snapshot(async (tx) => {
        const row = isId(id) ? await sourceById(tx, id.toLowerCase()) : undefined;
        // Without a visible actor that cites it, a source does not exist for the caller. A public one is the same for everybody.
        for (const workspace of new Set([null, callerOf(request)?.workspace_id ?? null])) {
          const isShown = row && (row.workspace_id === null || row.workspace_id === workspace);
          const [found] = isShown ? await sourceRecords(tx, [row], tellingOf(context), workspace) : [];
          if (found && found.entity_ids.length > 0) return { record: found, isPublic: workspace === null };
        }
        throw problem('unknown_source', { detail: `No source has the id ${singleLine(id, 100)}.` });
      });
      const body = JSON.stringify(record);
      return textAnswer(request, h, { body, etag: textEtag(body), ...(!isPublic && { cacheControl: 'private, no-store' }) });
    },
  };
}

import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { lazily, checkIfMatch, Joi, problem, textEtag, type Reader, type Caller } from 'civic';
import { callerOf, checkMayChange, checkOwner, editorOf, mayPublish, maySee, workspaceBeside } from '../access.ts';
import { tellingOf, type DirectoryContext } from '../actors/context.ts';
import { actorTexts } from '../actors/detail.ts';
import { actorById, type ShownActor } from '../actors/read-store.ts';
import { actorDetailSchema, actorSchema } from '../actors/schemas.ts';
import { ACTOR_TYPES, RANKS, type ActorDraft, type Visibility } from '../types.ts';
import { lockedRecords } from './edit.ts';
import { judgementsAmong } from './judgements-store.ts';
import type { RecordRow } from './rows.ts';
import { claimInput, sourceInput } from './schemas.ts';
import { notPublic, refused } from './refused.ts';
import type { Ledger, Patch } from './service.ts';
import { recordsOfActors } from './store.ts';

const loadFind = lazily(() => import('../matching/find.ts'));
const loadProfile = lazily(() => import('../matching/profile.ts'));

const params = Joi.object({ id: Joi.string() });
const writer = { mode: 'required' as const, access: { scope: ['entities:write'] } };
const reason = Joi.string().trim().max(2000).allow(null).default(null);
const noQuery = Joi.object({});
const MOST_LINKED = 5;

export interface WriteContext extends DirectoryContext {
  ledger: Ledger;
  /** Counts writes as uses of the caller's workspace, in their transaction; one when `amount` is absent. */
  countWrite(tx: Tx, caller: Caller, amount?: number): Promise<void>;
}

export function writeRoutes(context: WriteContext): ServerRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/entities',
      options: {
        description: 'Create an actor, with a source for each claim',
        notes: 'A claim with the property `name` and a source with a URL are required. Claims name their source by `local_id`. Without `visibility` the actor belongs to the workspace of the caller. `Link` with rel="duplicate" names actors that may be the same; nothing is merged.',
        auth: writer,
        validate: {
          query: noQuery,
          payload: Joi.object({
            type: Joi.string().valid(...ACTOR_TYPES).required(),
            visibility: Joi.string().valid('public', 'workspace').default('workspace').description('Public at once needs a reviewer'),
            sources: Joi.array().items(sourceInput).min(1).max(100).required(),
            claims: Joi.array().items(claimInput).min(1).max(500).required(),
          }).meta({ name: 'NewActor' }),
        },
        plugins: { civic: { problems: ['invalid_request', 'field_policy', 'unlisted_person', 'permission_required'] } },
        response: { status: { 201: actorDetailSchema }, sample: 0 },
      },
      handler: (request, h) => create(context, request, h),
    },
    {
      method: 'PATCH',
      path: '/api/entities/{id}',
      options: {
        description: 'Add claims with their sources, retract claims, rank them; nothing is ever lost',
        notes: 'Send the ETag of the actor in `If-Match` to get 412 when it has changed since. Only reviewers may change public actors.',
        auth: writer,
        validate: {
          query: noQuery,
          params,
          payload: Joi.object({
            sources: Joi.array().items(sourceInput).max(100),
            add: Joi.array().items(claimInput).max(500),
            retract: Joi.array().items(Joi.string()).max(500),
            rank: Joi.array().items(Joi.object({ claim_id: Joi.string().required(), rank: Joi.string().valid(...RANKS).required() })).max(500),
          }).or('add', 'retract', 'rank').meta({ name: 'ActorPatch' }),
        },
        plugins: { civic: { problems: ['invalid_request', 'field_policy', 'unlisted_person', 'unknown_actor', 'unknown_claim', 'claim_needed', 'permission_required', 'precondition_failed'] } },
        response: { schema: actorDetailSchema, sample: 0 },
      },
      handler: (request, h) => change(context, request, h),
    },
    {
      method: 'DELETE',
      path: '/api/entities/{id}',
      options: {
        description: 'Delete an actor; its history stays',
        notes: 'The id is 404 afterwards and is not used again. Only reviewers may delete public actors.',
        auth: writer,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_actor', 'permission_required', 'precondition_failed'] } },
        response: { status: { 204: Joi.any() } },
      },
      handler: (request, h) => act(context, request, (tx, [record], editor) => context.ledger.remove(tx, record!.id, editor, null)).then(() => h.response().code(204)),
    },
    {
      method: 'POST',
      path: '/api/entities/{id}/merge',
      options: {
        description: 'Merge this actor into another one; its id is then 404 and names the other',
        notes: 'Returns the actor that remains. Different strong identifiers of the two are 409 `merge_conflict`. Undo it with split.',
        auth: writer,
        validate: { query: noQuery, params, payload: Joi.object({ into: Joi.string().required(), reason }).meta({ name: 'Merge' }) },
        plugins: { civic: { problems: ['unknown_actor', 'same_actor', 'merge_conflict', 'permission_required'] } },
        response: { schema: actorDetailSchema, sample: 0 },
      },
      async handler(request, h) {
        const { into, reason: why } = request.payload as { into: string; reason: string | null };
        const body = await act(context, request, async (tx, [left, right], editor) => {
          await context.ledger.judge(tx, { left_id: left!.id, right_id: right!.id, verdict: 'same', reason: why, score: null }, editor);
          return detailText(context, tx, right!.id);
        }, [into]);
        return answerActor(h, body);
      },
    },
    {
      method: 'POST',
      path: '/api/entities/{id}/split',
      options: {
        description: 'Undo a merge: the last one into this actor, or the one that is named',
        notes: 'Returns the separated actors. No claim is lost.',
        auth: writer,
        validate: { query: noQuery, params, payload: Joi.object({ judgement_id: Joi.string() }).allow(null).default({}).meta({ name: 'Split' }) },
        plugins: { civic: { problems: ['unknown_actor', 'unknown_judgement', 'not_merged', 'permission_required'] } },
        response: { schema: Joi.object({ entities: Joi.array().items(actorSchema).required() }).meta({ name: 'SplitActors' }), sample: 0 },
      },
      handler: (request, h) => split(context, request, h),
    },
    {
      method: 'POST',
      path: '/api/entities/{id}/publish',
      options: {
        description: 'Publish an actor of your workspace; needs a reviewer',
        notes: 'The actor is then public, and only reviewers may change it.',
        auth: writer,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_actor', 'already_public', 'unlisted_person', 'permission_required'] } },
        response: { schema: actorDetailSchema, sample: 0 },
      },
      async handler(request, h) {
        const body = await act(context, request, async (tx, [record], editor) => {
          if (!mayPublish(callerOf(request)!)) throw problem('permission_required', { detail: 'Only reviewers and administrators publish actors.' });
          await context.ledger.publish(tx, record!.id, editor);
          return detailText(context, tx, record!.id);
        });
        return answerActor(h, body);
      },
    },
  ];
}

type Tx = Parameters<Ledger['publish']>[0];
type Acting = Parameters<Ledger['publish']>[2];

/**
 * One change of the actor in the path, and of others it names, in one transaction with the question whether it may be made,
 * whether it still is what the caller read, and what it then looks like: nobody else changes it meanwhile.
 */
async function act<T>(context: WriteContext, request: Request, work: (tx: Tx, records: RecordRow[], editor: Acting) => Promise<T>, others: string[] = []): Promise<T> {
  const caller = callerOf(request)!;
  return context.civic.db.write(async (tx) => {
    const records = await lockedRecords(tx, [String(request.params.id), ...others], context.civic.url, (one) => maySee(one, caller));
    for (const record of records) checkMayChange(record, caller);
    if (request.headers['if-match'] !== undefined) checkIfMatch(request, textEtag(await detailText(context, tx, records[0]!.id)));
    await context.countWrite(tx, caller);
    return work(tx, records, editorOf(caller));
  });
}

async function detailText(context: WriteContext, reader: Reader, id: string): Promise<string> {
  const actor = await actorById(reader, id);
  const [text] = await actorTexts(reader, [actor!], { include: ['claims', 'sources'] }, tellingOf(context), workspaceBeside(actor!));
  return text!;
}

function answerActor(h: ResponseToolkit, body: string) {
  return h.response(body).type('application/json; charset=utf-8').header('etag', textEtag(body)).header('cache-control', 'private, no-store');
}

async function create(context: WriteContext, request: Request, h: ResponseToolkit) {
  const caller = callerOf(request)!;
  const input = request.payload as ActorDraft & { visibility: Visibility };
  if (input.visibility === 'public' && !mayPublish(caller)) {
    throw problem('permission_required', { detail: 'Only reviewers and administrators enter public actors; leave visibility out, and it belongs to your workspace.' });
  }
  checkOwner(input.visibility, caller, { pointer: '/visibility' });
  const [checked] = await context.ledger.check(context.civic.db.read, [input]);
  if ('faults' in checked!) throw refused(checked.faults);
  if (checked!.hidden.length > 0) throw notPublic(checked!.hidden);
  const { findDuplicates } = await loadFind();
  const { profileOfDraft } = await loadProfile();
  const alike = await findDuplicates(context.civic.db.read, profileOfDraft(checked!.draft), caller.workspace_id, context.policy);
  const { id, body } = await context.civic.db.write(async (tx) => {
    await context.countWrite(tx, caller);
    const [applied] = await context.ledger.apply(tx, [checked!.draft], editorOf(caller));
    return { id: applied!.id, body: await detailText(context, tx, applied!.id) };
  });
  const response = answerActor(h, body);
  // Nothing is merged behind the back of who enters it: the answer names what may be the same.
  const links = alike.slice(0, MOST_LINKED).map(({ actor }) => `<${context.civic.url(`/api/entities/${actor.id}`)}>; rel="duplicate"`);
  if (links.length > 0) response.header('link', links.join(', '));
  return response.code(201).header('location', context.civic.url(`/api/entities/${id}`));
}

async function change(context: WriteContext, request: Request, h: ResponseToolkit) {
  const checked = await checkedPatch(context.ledger, context.civic.db.read, { sources: [], add: [], retract: [], rank: [], ...request.payload as Partial<Patch> });
  const body = await act(context, request, async (tx, [record], editor) => {
    await context.ledger.patch(tx, record!.id, checked, editor);
    return detailText(context, tx, record!.id);
  });
  return answerActor(h, body);
}

/** The same rules as for a new actor, which has a name besides. */
export async function checkedPatch(ledger: Ledger, reader: Reader, patch: Patch): Promise<Patch> {
  if (patch.add.length === 0) return patch;
  if (patch.sources.length === 0) throw refused([{ pointer: '/sources', detail: 'claims need a source' }]);
  const stand = { property: 'name' as const, value: 'x', source_local_id: patch.sources[0]!.local_id };
  const type = { property: 'type' as const, value: 'person' as const, source_local_id: patch.sources[0]!.local_id };
  const [checked] = await ledger.check(reader, [{ type: 'person', visibility: 'workspace', sources: patch.sources, claims: [...patch.add, stand, type] }]);
  if ('faults' in checked!) throw refused(checked.faults.map(({ pointer, detail }) => ({ pointer: pointer.replace(/^\/claims/, '/add'), detail })));
  return { ...patch, sources: checked!.draft.sources, add: checked!.draft.claims.slice(0, patch.add.length) };
}

async function split(context: WriteContext, request: Request, h: ResponseToolkit) {
  const { judgement_id: named } = (request.payload ?? {}) as { judgement_id?: string };
  const texts = await act(context, request, async (tx, [actor], editor) => {
    const { id } = actor!;
    const keys = (await recordsOfActors(tx, [actor!.key])).map(({ key }) => key);
    const merges = (await judgementsAmong(tx, keys)).filter(({ verdict, deleted_at }) => verdict === 'same' && deleted_at === null);
    if (merges.length === 0) throw problem('not_merged', { detail: `Nothing was merged into ${id}.` });
    const judgement = named ? merges.find((merge) => merge.id === named.toLowerCase()) : merges.at(-1);
    if (!judgement) throw problem('unknown_judgement', { detail: `${id} was not made by a judgement ${named!.slice(0, 100)}.` });
    const rows: (ShownActor | undefined)[] = [];
    for (const one of await context.ledger.unjudge(tx, judgement.id, editor)) rows.push(await actorById(tx, one));
    return actorTexts(tx, rows.filter((row) => row !== undefined), { include: [] }, tellingOf(context));
  });
  return h.response(`{"entities":[${texts.join(',')}]}`).type('application/json; charset=utf-8').header('cache-control', 'private, no-store');
}

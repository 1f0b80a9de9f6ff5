import type { ServerRoute } from '@hapi/hapi';
import { clientAddressOf, Joi, listResponse, pageOf } from 'civic';
import { callerOf, editorOf } from '../access.ts';
import { claimSchema, listOf, paging, sourceSchema } from '../actors/schemas.ts';
import { ACTOR_TYPES } from '../types.ts';
import type { NamedStatement } from './confirm.ts';
import { listRechecks, OUTCOMES, recordCheck, type Outcome, type RecheckContext } from './service.ts';

const reviewing = { mode: 'required' as const, access: { scope: ['entities:write'] } };
const MOST_AT_ONCE = 100;
const count = Joi.number().integer().min(0).required();

const recheck = Joi.object({
  source: sourceSchema.required(),
  impact: count.description('100 × log2(1 + cited) × the largest weight × age in half-lives of its statements'),
  cited: count.description('How many records cite the source'),
  due: count.description('How many of its statements are past their half-life'),
  statements: Joi.array().items(Joi.object({
    entity: Joi.object({ id: Joi.string().guid().required(), name: Joi.string().required(), type: Joi.string().valid(...ACTOR_TYPES).required() }).required(),
    claim: claimSchema.required(),
  })).required().description('The first ten of them, those of the largest weight first'),
}).meta({ name: 'Recheck' });

const outcome = Joi.object({
  outcome: Joi.string().valid(...OUTCOMES).required().description('`confirmed`: the source still has the statements. `retracted`: it does not. `broken`: its address does not work'),
  statements: Joi.array().items(Joi.object({ entity_id: Joi.string().required(), claim_id: Joi.string().required() })).max(MOST_AT_ONCE)
    // oxlint-disable-next-line unicorn/no-thenable -- the word is Joi's
    .when('outcome', { switch: [{ is: 'broken', then: Joi.forbidden() }, { is: 'retracted', then: Joi.array().min(1).required() }] }).description('Which statements; not with `broken`. Without any, `confirmed` states that the source is there'),
}).meta({ name: 'RecheckOutcome' });

/** The queue of sources to check again, for reviewers. */
export function recheckRoutes(context: RecheckContext): ServerRoute[] {
  const { civic } = context;
  return [
    {
      method: 'GET',
      path: '/api/rechecks',
      options: {
        description: 'Sources to check again, those of the highest impact first; for reviewers',
        notes: 'Sources with statements that are past their half-life, and sources that were not checked for a year: the 1,000 of the highest impact, computed every six hours. What was checked leaves the list at once.',
        auth: reviewing,
        validate: { query: Joi.object(paging) },
        plugins: { civic: { role: 'reviewer', problems: ['invalid_cursor'] } },
        response: { schema: listOf(recheck).meta({ name: 'RecheckList' }) },
      },
      async handler(request, h) {
        const page = pageOf(request, ['integer', 'integer']);
        const list = await civic.db.snapshot((tx) => listRechecks(context, tx, { limit: page.limit, after: page.after as number[] | null }));
        return listResponse(request, h, page, list).header('cache-control', 'private, no-store');
      },
    },
    {
      method: 'POST',
      path: '/api/rechecks/{source_id}',
      options: {
        description: 'State what checking a source has shown; for reviewers',
        notes: 'Confirmed statements count as seen now, which makes their actors fresh again; the source counts as checked.',
        auth: reviewing,
        validate: { query: Joi.object({}), params: Joi.object({ source_id: Joi.string() }), payload: outcome },
        plugins: { civic: { role: 'reviewer', problems: ['unknown_source', 'unknown_claim', 'claim_needed'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        const caller = callerOf(request)!;
        const { outcome: found, statements = [] } = request.payload as { outcome: Outcome; statements?: NamedStatement[] };
        await recordCheck(context, String(request.params.source_id), { outcome: found, statements }, { editor: editorOf(caller), doer: { account_id: caller.account_id, address: clientAddressOf(request) } });
        return h.response().code(204);
      },
    },
  ];
}

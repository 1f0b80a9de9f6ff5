import type { Request, RouteOptionsAccess, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, Joi, listResponse, pageOf } from 'civic';
import { countFlags } from '../counts-store.ts';
import type { Flags } from '../flags.ts';
import type { Conversation } from '../reporter/conversation.ts';
import { newMessage } from '../reporter/schemas.ts';
import type { Decisions, Reviewer } from './decisions.ts';
import { callerOf } from '../routes.ts';
import { decision, flagList, flagQuery, reviewedFlagSchema } from '../schemas.ts';
import { flagsPage, lastKey, type FlagQuery } from '../store.ts';
import type { Decision } from '../types.ts';
import { reviewedFlags } from './reviewed.ts';

const reviewing: RouteOptionsAccess = { mode: 'required', access: { scope: ['flags:review'] } };

/**
 * How many of the latest flags are searched where none is counted. A node of an older version may have inserted one that the job has not counted yet; a
 * search of all flags would take too long.
 */
const UNCOUNTED = 2000;

/** Returns the routes of reviewers: list flags and decide on them. */
export function reviewRoutes({ civic, directory }: Flags, decisions: Decisions, conversation: Conversation): ServerRoute[] {
  /** Converts the place of a query, in any form that the API accepts, to the canonical key that flags are stored with. Returns null when the place is unknown. */
  async function canonical(query: FlagQuery): Promise<FlagQuery | null> {
    if (query.place === undefined) return query;
    const place = await directory.placeKey(civic.db.read, query.place);
    return place === null ? null : { ...query, place };
  }

  return [
    {
      method: 'GET',
      path: '/api/flags',
      options: {
        description: 'Flags, the latest first; for reviewers',
        notes: 'Includes the reasons, which only reviewers can read. Suspected spam has a `suspicion`.',
        auth: reviewing,
        validate: { query: flagQuery },
        plugins: { civic: { role: 'reviewer', problems: ['invalid_cursor'] } },
        response: { schema: flagList },
      },
      async handler(request, h) {
        const page = pageOf<FlagQuery>(request, ['integer']);
        const query = await canonical(page.query);
        const { rows, total } = await civic.db.snapshot(async (tx) => {
          if (query === null) return { total: 0, rows: [] };
          const count = await countFlags(tx, query);
          const after = count === 0 ? await lastKey(tx) - UNCOUNTED : null;
          return { total: count, rows: await flagsPage(tx, query, { before: page.after ? Number(page.after[0]) : null, after, limit: page.limit + 1 }) };
        });
        const shown = rows.slice(0, page.limit);
        return listResponse(request, h, page, { data: await reviewedFlags(civic.db.read, shown), total, next: rows.length > page.limit ? [shown.at(-1)!.key] : null }).header('cache-control', 'private, no-store');
      },
    },
    {
      method: 'PATCH',
      path: '/api/flags/{id}',
      options: {
        description: 'Decide on a flag; for reviewers',
        notes: 'An open flag is accepted or dismissed; an accepted flag is resolved, which publishes a signal of the type `flag_resolved`. A decision does not change the actor or the source: correct it before you resolve the flag.',
        auth: reviewing,
        validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }), payload: decision },
        plugins: { civic: { role: 'reviewer', problems: ['unknown_flag', 'flag_transition'] } },
        response: { schema: reviewedFlagSchema },
      },
      async handler(request, h) {
        const { status, note } = request.payload as { status: Decision; note?: string };
        const { flags: [decided] } = await decisions.decide([String(request.params.id)], { action: status, note }, reviewerOf(request));
        return h.response((await reviewedFlags(civic.db.read, [decided!]))[0]).header('cache-control', 'private, no-store');
      },
    },
    {
      method: 'POST',
      path: '/api/flags/{id}/messages',
      options: {
        description: 'Ask the reporter of a flag; for reviewers',
        notes: 'The question is on the page of the receipt, where the reporter can reply without an account, and is mailed when the reporter left an address. The flag must be open or accepted, and no suspected spam.',
        auth: reviewing,
        validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }), payload: newMessage },
        plugins: { civic: { role: 'reviewer', problems: ['unknown_flag', 'flag_not_open'] } },
        response: { status: { 201: reviewedFlagSchema } },
      },
      async handler(request, h) {
        const flag = await conversation.ask(String(request.params.id), (request.payload as { text: string }).text, reviewerOf(request));
        return h.response((await reviewedFlags(civic.db.read, [flag]))[0]).code(201).header('cache-control', 'private, no-store');
      },
    },
  ];
}

function reviewerOf(request: Request): Reviewer {
  const caller = callerOf(request)!;
  return { caller, by: { account_id: caller.account_id, address: clientAddressOf(request) } };
}

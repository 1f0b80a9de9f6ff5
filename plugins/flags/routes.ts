import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, Joi, type Caller } from 'civic';
import type { Flagged, Flags } from './flags.ts';
import { createdFlagSchema, newEntityFlag, newSourceFlag, receiptSchema } from './schemas.ts';

const noQuery = Joi.object({});
const NOTES = 'Needs no account. An account that repeats a flag which is still open gets that flag with 200. What you write is shown to reviewers only.';

/** Returns the public routes: create a flag, and read the status of a flag by its receipt. */
export function flagRoutes(flags: Flags): ServerRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/entity-flags',
      options: {
        description: 'Report a problem with an actor',
        notes: NOTES,
        validate: { query: noQuery, payload: newEntityFlag },
        plugins: { civic: { rate: 'flags', problems: ['unknown_actor', 'unknown_claim'] } },
        response: { status: { 200: createdFlagSchema, 201: createdFlagSchema } },
      },
      handler: async (request, h) => respond(h, await flags.flagEntity({ ...request.payload as Parameters<Flags['flagEntity']>[0], address: clientAddressOf(request) }, callerOf(request))),
    },
    {
      method: 'POST',
      path: '/api/source-flags',
      options: {
        description: 'Report a problem with a source',
        notes: NOTES,
        validate: { query: noQuery, payload: newSourceFlag },
        plugins: { civic: { rate: 'flags', problems: ['unknown_source'] } },
        response: { status: { 200: createdFlagSchema, 201: createdFlagSchema } },
      },
      handler: async (request, h) => respond(h, await flags.flagSource(request.payload as Parameters<Flags['flagSource']>[0], callerOf(request))),
    },
    {
      method: 'GET',
      path: '/api/flags/receipts/{receipt}',
      options: {
        description: 'What became of a flag, by its receipt',
        notes: 'For everyone who has the receipt. The reason is not part of the response.',
        validate: { query: noQuery, params: Joi.object({ receipt: Joi.string() }) },
        plugins: { civic: { masked: ['receipt'], problems: ['unknown_receipt'] } },
        response: { schema: receiptSchema },
      },
      handler: async (request, h) => h.response(await flags.receipt(String(request.params.receipt))).header('cache-control', 'private, no-store'),
    },
  ];
}

function respond(h: ResponseToolkit, { flag, isNew }: Flagged) {
  return h.response(flag).code(isNew ? 201 : 200).header('cache-control', 'private, no-store');
}

export function callerOf(request: Request): Caller | null {
  return request.auth.isAuthenticated ? (request.auth.credentials as unknown as Caller) : null;
}

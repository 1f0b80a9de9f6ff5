import type { Request, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, Joi } from 'civic';
import { receiptOf, type Flags } from '../flags.ts';
import { receiptSchema } from '../schemas.ts';
import type { Conversation } from './conversation.ts';
import type { MessageRow } from './messages-store.ts';
import { newMessage, shownMessages } from './schemas.ts';

const PATH = '/api/flags/receipts/{receipt}';
const noQuery = Joi.object({});
const params = Joi.object({ receipt: Joi.string() });
const civicOptions = (problems: string[]) => ({ civic: { rate: 'flags', masked: ['receipt'], problems } });

/** Returns the routes with which the holder of a receipt reads questions, replies to them and reopens the flag. */
export function conversationRoutes(flags: Flags, conversation: Conversation): ServerRoute[] {
  const written = (request: Request) => ({ text: (request.payload as { text: string }).text, address: clientAddressOf(request) });
  return [
    {
      method: 'GET', path: `${PATH}/messages`,
      options: {
        description: 'Questions about a flag, by its receipt',
        notes: 'For everyone who has the receipt. What the reporter wrote is not part of the response; `text` is then null.',
        validate: { query: noQuery, params },
        plugins: { civic: { masked: ['receipt'], problems: ['unknown_receipt'] } },
        response: { schema: shownMessages },
      },
      async handler(request, h) {
        const flag = await flags.byReceipt(flags.civic.db.read, String(request.params.receipt));
        const { messages, canReply, canReopen } = await conversation.of(flags.civic.db.read, flag);
        return h.response({ data: messages.map(shown), can_reply: canReply, can_reopen: canReopen }).header('cache-control', 'private, no-store');
      },
    },
    {
      method: 'POST', path: `${PATH}/messages`,
      options: {
        description: 'Reply to a question about a flag, by its receipt',
        notes: 'Needs no account. What you write is shown to reviewers only.',
        validate: { query: noQuery, params, payload: newMessage },
        plugins: civicOptions(['unknown_receipt', 'flag_not_open']),
        response: { status: { 201: receiptSchema } },
      },
      handler: async (request, h) => h.response(receiptOf(await conversation.reply(String(request.params.receipt), written(request)))).code(201).header('cache-control', 'private, no-store'),
    },
    {
      method: 'POST', path: `${PATH}/reopen`,
      options: {
        description: 'Reopen a flag that was dismissed or resolved, by its receipt',
        notes: 'Needs no account, and is possible once. `text` states why; it is shown to reviewers only.',
        validate: { query: noQuery, params, payload: newMessage },
        plugins: civicOptions(['unknown_receipt', 'flag_not_closed']),
        response: { schema: receiptSchema },
      },
      handler: async (request, h) => h.response(receiptOf(await conversation.reopen(String(request.params.receipt), written(request)))).header('cache-control', 'private, no-store'),
    },
  ];
}

function shown({ kind, text, at }: MessageRow) {
  return { kind, text: kind === 'question' ? text : null, at };
}

import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, formOptions, Joi, pagePath, problemOf, readForm, type Texts } from 'civic';
import type { Flags } from '../flags.ts';
import type { Conversation, Written } from '../reporter/conversation.ts';
import { deleteReporter, reporterOf } from '../reporter/store.ts';
import type { FlagRow } from '../store.ts';

export const RECEIPTS_PATH = '/report/receipts';
const PATH = `${RECEIPTS_PATH}/{receipt}`;
/** What was done on the page, as the address of the page after it names it. */
const DONE = ['forgotten', 'replied', 'reopened'];
const masked = { masked: ['receipt'] };

const messageForm = Joi.object<{ text: string; website?: string }>({ text: Joi.string().trim().min(1).max(2000).required(), website: Joi.string().allow('') });

/** Returns the routes of the pages with the status of a report, on which the reporter replies to questions and reopens the report. */
export function receiptPages(flags: Flags, conversation: Conversation): ServerRoute[] {
  const { civic } = flags;
  const textsOf = (request: Request) => civic.texts(request.civic.language);
  const pageAfter = (request: Request, h: ResponseToolkit, receipt: string, done: string) => h.redirect(pagePath(request, `${RECEIPTS_PATH}/${receipt}?done=${done}`)).code(303);

  /** Returns a form with one text, which is stored by `send`. */
  const messageRoute = (name: 'reply' | 'reopen', done: string, send: (receipt: string, written: Written) => Promise<FlagRow>): ServerRoute => ({
    method: 'POST', path: `${PATH}/${name}`, options: formOptions({ rate: 'flags', ...masked }),
    async handler(request, h) {
      const t = await textsOf(request);
      const { values, errors, given } = readForm<{ text: string; website?: string }>(request, messageForm, t);
      if (!values) return (await showReceipt({ flags, conversation }, request, h, t, { form: name, error: errors['text'], text: given['text'] })).code(400);
      try {
        const { receipt } = await send(String(request.params.receipt), { text: values.text, isHiddenFieldFilled: Boolean(values.website), address: clientAddressOf(request) });
        return pageAfter(request, h, receipt, done);
      } catch (error) {
        // The status changed since the page was shown.
        if (!['flag_not_open', 'flag_not_closed'].includes(problemOf(error)?.code ?? '')) throw error;
        return (await showReceipt({ flags, conversation }, request, h, t, { isTooLate: true })).code(409);
      }
    },
  });

  return [
    {
      method: 'GET', path: RECEIPTS_PATH, options: { plugins: { civic: { internal: true, ...masked } } },
      async handler(request, h) {
        const t = await textsOf(request);
        const receipt = receiptIn(request.query['receipt']);
        if (receipt !== '') return h.redirect(pagePath(request, `${RECEIPTS_PATH}/${receipt}`));
        return h.view('flags/receipt', { title: t('receipt.title'), isUnlisted: true });
      },
    },
    { method: 'GET', path: PATH, options: { plugins: { civic: { internal: true, ...masked } } }, handler: async (request, h) => showReceipt({ flags, conversation }, request, h, await textsOf(request)) },
    {
      method: 'POST', path: `${PATH}/forget`, options: formOptions({ rate: 'flags', ...masked }),
      async handler(request, h) {
        const { key, receipt } = await flags.byReceipt(civic.db.read, String(request.params.receipt));
        await civic.db.write((tx) => deleteReporter(tx, key));
        return pageAfter(request, h, receipt, 'forgotten');
      },
    },
    messageRoute('reply', 'replied', conversation.reply),
    messageRoute('reopen', 'reopened', conversation.reopen),
  ];
}

/** Returns a typed receipt as a segment of a path; of repeated fields the first. Replaces characters that no receipt has: dots and slashes would name another path. */
function receiptIn(given: unknown): string {
  return String([given ?? ''].flat()[0]).trim().slice(0, 100).replaceAll(/\s/g, '-').replaceAll(/[^\w-]/g, '_');
}

interface Sent {
  form?: 'reply' | 'reopen';
  error?: string | undefined;
  text?: unknown;
  isTooLate?: boolean;
}

async function showReceipt({ flags, conversation }: { flags: Flags; conversation: Conversation }, request: Request, h: ResponseToolkit, t: Texts, sent: Sent = {}): Promise<ResponseObject> {
  const given = String(request.params.receipt);
  const context = { title: t('receipt.title'), isUnlisted: true, receipt: given, isNew: request.query['new'] !== undefined };
  try {
    const read = flags.civic.db.read;
    const flag = await flags.byReceipt(read, given);
    const { messages, canReply, canReopen } = await conversation.of(read, flag);
    const done = String(request.query['done']);
    return h.view('flags/receipt', {
      ...context, receipt: flag.receipt, status: flag.status, words: t(`status.${flag.status}`), created_at: flag.created_at, decided_at: flag.decided_at,
      done: DONE.includes(done) && t(`receipt.${done}`), isTooLate: sent.isTooLate,
      hasEmail: await reporterOf(read, flag.key) !== undefined,
      messages: messages.map(({ kind, text, at }) => ({ heading: t(`messages.${kind}`), text: kind === 'question' ? text : null, at })),
      canReply, canReopen, reply: sent.form === 'reply' ? sent : null, reopen: sent.form === 'reopen' ? sent : null,
    }).header('cache-control', 'private, no-store') as ResponseObject;
  } catch (error) {
    if (problemOf(error)?.code !== 'unknown_receipt') throw error;
    return h.view('flags/receipt', { ...context, isUnknown: true }).code(404);
  }
}

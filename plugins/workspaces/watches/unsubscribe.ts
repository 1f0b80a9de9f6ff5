import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, type Texts } from 'civic';
import { PAGE } from '../pages/frame.ts';
import { PRIVATE } from '../records/routes.ts';
import type { Workspaces } from '../context.ts';
import type { SubscriberRow } from './subscribers-store.ts';
import type { Watches } from './watches.ts';

const PATH = '/workspaces/unsubscribe';

/**
 * Returns the pages behind the link that each mail has. GET asks, because mail programs and scanners open links; POST ends the mails. A mail
 * program sends the POST without a session (RFC 8058): the secret in the link is the credential.
 */
export function unsubscribePages({ civic }: Workspaces, watches: Watches): ServerRoute[] {
  const respondAfter = (work: (subscriber: SubscriberRow) => Promise<'ask' | 'done'>) => async (request: Request, h: ResponseToolkit) => {
    const subscriber = await watches.subscribers.byUnsubscribe(civic.db.read, String(request.query['token'] ?? ''));
    const state = subscriber ? await work(subscriber) : 'gone';
    const t: Texts = await civic.texts(request.civic.language);
    const shown = { title: t('unsubscribe.title'), isUnlisted: true, isDone: state === 'done', isGone: state === 'gone', token: request.query['token'], workspace_id: subscriber?.workspace_id };
    return h.view('workspaces/unsubscribe', shown).code(subscriber ? 200 : 404).header('cache-control', PRIVATE);
  };
  const form = formOptions();
  return [
    { method: 'GET', path: PATH, options: PAGE, handler: respondAfter(async () => 'ask') },
    {
      method: 'POST', path: PATH,
      options: { ...form, payload: { ...form.payload as object, allow: ['application/x-www-form-urlencoded', 'multipart/form-data'], multipart: { output: 'data' } } },
      handler: respondAfter(async (subscriber) => {
        await civic.db.write((tx) => watches.subscribers.setMail(tx, subscriber, false));
        return 'done';
      }),
    },
  ];
}

import type { ServerRoute } from '@hapi/hapi';
import { formOptions, isId, problem } from 'civic';
import { PAGE } from '../signin/page.ts';
import { doerOf } from '../signin/sessions.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { deviceOf, deviceWords } from './device.ts';
import { when } from './words.ts';

export function sessionRoutes({ accounts: { civic }, signIn: { sessions }, ways: { go, signedIn }, settingsPage }: SettingsContext): ServerRoute[] {
  return [
    {
      method: 'GET', path: '/account/sessions', options: PAGE,
      handler: signedIn(async (visit, request, h, t) => {
        const now = civic.clock.now();
        const all = (await sessions.list(civic.db.read, visit.person)).map((one) => ({
          id: one.id, device: deviceWords(deviceOf(one.agent), t), address: one.address, by: one.made_by, begun: when(one.created_at, now, t), seen: when(one.seen_at, now, t), isThis: one.id === visit.session.id,
        }));
        return settingsPage(h, visit, { part: 'sessions', template: 'sessions', title: t('parts.sessions') }, { all, hasOthers: all.length > 1, notice: noticeOf(request, t) });
      }),
    },
    {
      method: 'POST', path: '/account/sessions/{id}/end', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const id = String(request.params.id).toLowerCase();
        const ended = isId(id) ? await civic.db.write((tx) => sessions.end(tx, visit.person, doerOf(request, visit.person.id), id)) : 0;
        if (ended === 0) throw problem('not_found', { detail: 'You have no such session, or it has ended already.' });
        return id === visit.session.id ? sessions.keep(go(h, '/sign-in'), null) : go(h, '/account/sessions?done=ended');
      }),
    },
    {
      method: 'POST', path: '/account/sessions/end-all', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        await civic.db.write((tx) => sessions.end(tx, visit.person, doerOf(request, visit.person.id)));
        return sessions.keep(go(h, '/sign-in'), null);
      }),
    },
  ];
}

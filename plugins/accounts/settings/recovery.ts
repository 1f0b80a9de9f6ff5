import type { ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath } from 'civic';
import { CODES } from '../signin/codes.ts';
import { codesLeft } from '../signin/codes-store.ts';
import { nextOf, PAGE, SIGN_IN, wantedPage } from '../signin/page.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { when } from './words.ts';

const SHOWN = { part: 'recovery', template: 'recovery' } as const;

export function recoveryRoutes({ accounts: { civic }, signIn, ways: { purposeOf, signedIn }, confirmed, settingsPage }: SettingsContext): ServerRoute[] {
  return [
    {
      method: 'GET', path: '/account/recovery-codes', options: PAGE,
      handler: signedIn(async (visit, request, h, t) => {
        const { left, made_at } = await codesLeft(civic.db.read, visit.person.key);
        const next = wantedPage(request.query.next);
        return settingsPage(h, visit, { ...SHOWN, title: t('parts.recovery') }, { left, all: CODES, isLow: left > 0 && left < 4, made: when(made_at, civic.clock.now(), t), next, link: next && pagePath(request, next), purpose: next && await purposeOf(next, t.language), notice: noticeOf(request, t) });
      }),
    },
    {
      method: 'POST', path: '/account/recovery-codes', options: formOptions(SIGN_IN),
      handler: confirmed(async (visit, request, h, t) => {
        const codes = await signIn.createCodes(request, visit.person);
        const next = nextOf((request.payload as Record<string, unknown> | null)?.next);
        return settingsPage(h, visit, { ...SHOWN, template: 'recovery-made', title: t('recovery.made_title') }, { codes, text: codes.join('\n'), link: pagePath(request, next) });
      }),
    },
  ];
}

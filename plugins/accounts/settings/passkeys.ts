import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, problem, readForm, type Texts } from 'civic';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { codesLeft } from '../signin/codes-store.ts';
import { nextOf, PAGE, SIGN_IN, wantedPage, withNext } from '../signin/page.ts';
import { deletePasskey, passkeysOf, renamePasskey, type PasskeyRow } from '../signin/passkeys-store.ts';
import { answerOf } from '../signin/routes.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { deviceOf, deviceWords } from './device.ts';
import { nameField } from './fields.ts';
import { when } from './words.ts';

const form = Joi.object<{ name: string }>({ name: nameField });
const SHOWN = { part: 'passkeys', template: 'passkeys' } as const;

/** Open also to those who came by link or code: it is all they may do. */
export function passkeyRoutes({ accounts: { civic, notify, record }, signIn, ways: { go, purposeOf, signedIn }, confirmed, settingsPage }: SettingsContext): ServerRoute[] {
  const { passkeys, party, sessions } = signIn;
  const passing = { passing: true };

  async function passkeysPage(h: ResponseToolkit, visit: Visit, t: Texts, { next = null, ...more }: { next?: string | null; status?: number; notice?: string; fault?: string; errors?: Record<string, string>; given?: object } = {}): Promise<ResponseObject> {
    const now = civic.clock.now();
    const all = (await passkeysOf(civic.db.read, visit.person.key)).map((one) => ({ ...shown(one), made: when(one.created_at, now, t), used: when(one.used_at, now, t) }));
    const title = visit.isFull ? t('parts.passkeys') : all.length === 0 ? t('passkeys.first_title') : t('passkeys.add');
    return settingsPage(h, visit, { ...SHOWN, title, status: more.status }, { all, party, suggested: deviceWords(deviceOf(visit.session.agent), t), isPassing: !visit.isFull, isRecent: sessions.isRecent(visit), next, purpose: next && await purposeOf(next, t.language), ...more });
  }

  async function own(visit: Visit, id: unknown): Promise<{ one: PasskeyRow; all: PasskeyRow[] }> {
    const all = await passkeysOf(civic.db.read, visit.person.key);
    const one = all.find((passkey) => passkey.id === id);
    if (!one) throw problem('not_found', { detail: 'You have no such passkey.' });
    return { one, all };
  }

  return [
    { method: 'GET', path: '/account/passkeys', options: PAGE, handler: signedIn((visit, request, h, t) => passkeysPage(h, visit, t, { next: wantedPage(request.query.next), notice: noticeOf(request, t) }), passing) },
    {
      method: 'POST', path: '/account/passkeys/options', options: formOptions(SIGN_IN),
      handler: signedIn(async (visit, _request, h) => {
        if (!sessions.isRecent(visit)) throw problem('confirmation_required');
        return h.response(await passkeys.beginAdding(visit.person)).header('cache-control', 'no-store');
      }, passing),
    },
    {
      method: 'POST', path: '/account/passkeys', options: formOptions(SIGN_IN),
      handler: confirmed(async (visit, request, h, t) => {
        const { answer: given_answer, next: given_next } = (request.payload ?? {}) as Record<string, unknown>;
        const next = wantedPage(given_next);
        const { values, errors, given } = readForm(request, form, t);
        if (!values) return passkeysPage(h, visit, t, { next, errors, given, status: 400 });
        // The confirmation page sends the form without a passkey: the WebAuthn ceremony follows.
        if (!given_answer) return passkeysPage(h, visit, t, { next, given, notice: t('passkeys.confirmed') });
        const answer = answerOf<RegistrationResponseJSON>(given_answer);
        let secret: string | null = null;
        const isAdded = answer && await passkeys.add(visit.person, answer, values.name, doerOf(request, visit.person.id), async (tx) => {
          // Whoever came by link may do more now, so the session is another one.
          secret = await sessions.begin(tx, request, visit.person, 'passkey');
        });
        if (!isAdded) return passkeysPage(h, visit, t, { next, given, fault: t('passkeys.refused'), status: 400 });
        const hasCodes = (await codesLeft(civic.db.read, visit.person.key)).left > 0;
        const after = hasCodes ? next ?? '/account/passkeys?done=passkey' : withNext('/account/recovery-codes?done=passkey', nextOf(next));
        return sessions.keep(go(h, after), secret);
      }, passing),
    },
    {
      method: 'POST', path: '/account/passkeys/{id}/rename', options: formOptions(),
      handler: confirmed(async (visit, request, h, t) => {
        const { one } = await own(visit, request.params.id);
        const { values, errors } = readForm(request, form, t);
        if (!values) return passkeysPage(h, visit, t, { fault: errors['name'], status: 400 });
        await civic.db.write((tx) => renamePasskey(tx, visit.person.key, one.id, values.name));
        return go(h, '/account/passkeys?done=renamed');
      }),
    },
    {
      method: 'GET', path: '/account/passkeys/{id}/remove', options: PAGE,
      handler: signedIn(async (visit, request, h, t) => {
        const { one, all } = await own(visit, request.params.id);
        const { left } = await codesLeft(civic.db.read, visit.person.key);
        return settingsPage(h, visit, { ...SHOWN, template: 'passkey-remove', title: t('passkey_remove.title') }, { one: shown(one), isLast: all.length === 1, left, mails: signIn.mails && visit.person.email !== null });
      }),
    },
    {
      method: 'POST', path: '/account/passkeys/{id}/remove', options: formOptions(),
      handler: confirmed(async (visit, request, h) => {
        const { one } = await own(visit, request.params.id);
        await civic.db.write(async (tx) => {
          if (!await deletePasskey(tx, visit.person.key, one.id)) return;
          const by = doerOf(request, visit.person.id);
          await record(tx, { kind: 'passkey_removed', by, subject: visit.person.id, detail: { name: one.name } });
          await notify(tx, visit.person, { kind: 'passkey_removed', detail: { name: one.name } }, by);
        });
        return go(h, '/account/passkeys?done=removed');
      }),
    },
  ];
}

function shown({ id, name }: PasskeyRow): { id: string; name: string } {
  return { id, name };
}

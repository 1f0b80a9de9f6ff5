import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem, type Texts } from 'civic';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { page, SIGN_IN, type SignedInHandler, type Ways } from './page.ts';
import { answerOf, whoTries } from './routes.ts';
import { RECENT_MINUTES, type Visit } from './sessions.ts';
import type { SignIn } from './signin.ts';

export interface ConfirmOptions {
  passing?: boolean;
  check?(visit: Visit): void;
  /** Where Cancel leads; by default to the page that the form is on. */
  back?(request: Request): string;
  /** Returns the earliest authentication that counts, in milliseconds, besides the rule of the last minutes. */
  since?(request: Request): Promise<number>;
}

export interface Confirmation {
  /**
   * Like `signedIn`, for changes that need recent authentication. Without it, a page asks for it and then continues with the same form.
   * `check` throws for callers without permission, before that page is shown.
   */
  confirmed(work: SignedInHandler, options?: ConfirmOptions): Lifecycle.Method;
  routes: ServerRoute[];
}

/** The page that the interrupted form is on. */
function backFrom(path: string): string {
  const [part] = /^\/(account\/(keys|passkeys|recovery-codes)|console\/accounts)/.exec(path) ?? ['/account'];
  return part;
}

const ANSWER = 'confirm_answer';
const SECRET = 'confirm_secret';

export function createConfirmation(signIn: SignIn, { signedIn }: Ways): Confirmation {
  const { passkeys, party, sessions, tries, mails } = signIn;

  /** Returns whether the form has a valid proof; removes the proof from the form. */
  async function isProven(request: Request, visit: Visit, canUsePasskey: boolean): Promise<boolean | null> {
    const form = (request.payload ?? {}) as Record<string, unknown>;
    const { [ANSWER]: answer, [SECRET]: secret } = form;
    delete form[ANSWER];
    delete form[SECRET];
    if (canUsePasskey) {
      if (typeof answer !== 'string' || answer === '') return null;
      const given = answerOf<AuthenticationResponseJSON>(answer);
      return given !== null && passkeys.confirm(visit.person, given, request);
    }
    if (typeof secret !== 'string' || secret.trim() === '') return null;
    if (!tries.codes.admits(whoTries(request))) throw problem('too_many_requests', { detail: 'Too many codes were tried from your address. Wait a quarter of an hour.', headers: { 'retry-after': '900' } });
    return signIn.confirmBySecret(request, visit.person, secret);
  }

  function confirmPage(request: Request, h: ResponseToolkit, visit: Visit, t: Texts, { canUsePasskey, back, fault }: { canUsePasskey: boolean; back: string; fault?: string }): ResponseObject {
    const fields = Object.entries((request.payload ?? {}) as Record<string, unknown>).flatMap(([name, value]) => [value].flat().map((one) => ({ name, value: String(one) })));
    return page(h, 'confirm', { title: t('confirm.title'), action: pagePath(request, request.path), fields, back, canUsePasskey, party, mails, minutes: RECENT_MINUTES, fault, name: visit.person.name }, fault ? 400 : 403);
  }

  return {
    confirmed: (work, { passing, check, back = ({ path }: Request) => backFrom(path), since } = {}) => signedIn(async (visit, request, h, t) => {
      check?.(visit);
      if (sessions.isRecent(visit, await since?.(request))) return work(visit, request, h, t);
      const canUsePasskey = party.works && await passkeys.has(visit.person);
      const proven = await isProven(request, visit, canUsePasskey);
      if (proven) {
        await sessions.confirm(request, visit);
        return work(visit, request, h, t);
      }
      const fault = canUsePasskey ? t('confirm.wrong_passkey') : t('confirm.wrong_secret');
      return confirmPage(request, h, visit, t, { canUsePasskey, back: back(request), fault: proven === false ? fault : undefined });
    }, { passing }),
    routes: [{
      method: 'POST', path: '/account/confirm/options', options: formOptions(SIGN_IN),
      handler: signedIn(async ({ person }, _request, h) => h.response(await passkeys.beginConfirming(person)).header('cache-control', 'no-store')),
    }],
  };
}

import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { addressGroup, clientAddressOf, formOptions, Joi, problem, readForm, type Texts } from 'civic';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { emailField, nameField } from '../settings/fields.ts';
import { foldEmail } from '../people/people.ts';
import type { Cookie } from './cookie.ts';
import { nextOf, page, SIGN_IN, SIGN_IN_PAGE, wantedPage, withNext, type Ways } from './page.ts';
import type { Answer } from './passkeys.ts';
import type { SignIn } from './signin.ts';

const FORM = formOptions(SIGN_IN);

const codeForm = Joi.object<{ code: string }>({ code: Joi.string().trim().min(10).max(60).required().label('the code') }).messages({ 'string.min': 'fields.short_code', 'string.empty': 'fields.no_code', 'any.required': 'fields.no_code' });
const mailForm = Joi.object<{ email: string }>({ email: emailField.required() });
const firstForm = Joi.object<{ token: string; name: string; email: string | null }>({ token: Joi.string().required(), name: nameField, email: emailField.allow('').empty('').default(null) });

const fieldOf = (request: Request, name: string): unknown => (request.payload as Record<string, unknown> | null)?.[name];

export function signInRoutes(signIn: SignIn, { go, signedIn, purposeOf }: Ways, waiting: Cookie): ServerRoute[] {
  const { sessions, passkeys, party, mails, tries } = signIn;
  const textsFor = (request: Request): Promise<Texts> => signIn.texts(request.civic.language);

  const begun = (h: ResponseToolkit, secret: string, path: string): ResponseObject => sessions.keep(go(h, path), secret);
  /** Those who must add a passkey go there first. */
  const after = (next: string): string => (party.works ? withNext('/account/passkeys', next) : next);

  async function signInPage(request: Request, h: ResponseToolkit, isRefused = false): Promise<ResponseObject> {
    const t = await textsFor(request);
    const next = nextOf(fieldOf(request, 'next') ?? request.query.next);
    const purpose = await purposeOf(next, t.language);
    const title = purpose === null ? t('sign_in') : t('signin.title_for', { purpose });
    const fault = isRefused ? t('signin.refused') : undefined;
    return page(h, 'sign-in', { title, next, query: withNext('', next), party, mails, fault, isEmpty: await signIn.isEmpty() }, isRefused ? 400 : 200);
  }

  function codePage(h: ResponseToolkit, t: Texts, next: string, wrong?: { errors: Record<string, string>; given: Record<string, unknown> }): ResponseObject {
    return page(h, 'code', { title: t('code.title'), next, query: withNext('', next), ...wrong }, wrong ? 400 : 200);
  }

  async function linkPage(h: ResponseToolkit, token: unknown, more: object = {}, status = 200): Promise<ResponseObject> {
    const t = await textsFor(h.request);
    const purpose = typeof token === 'string' ? await signIn.linkFor(token) : null;
    if (!purpose) return page(h, 'link-gone', { title: t('link_gone.title'), party, mails, isEmpty: await signIn.isEmpty() }, 410);
    const isFirst = 'first' in purpose;
    return page(h, isFirst ? 'first' : 'link', { title: isFirst ? t('first.title') : t('sign_in'), token, who: isFirst ? null : purpose.person.name, ...more }, status);
  }

  return [
    {
      method: 'GET', path: '/sign-in', options: SIGN_IN_PAGE,
      handler: (request, h) => (sessions.visitOf(request) ? go(h, nextOf(request.query.next)) : signInPage(request, h)),
    },
    {
      method: 'POST', path: '/sign-in/passkey/options', options: FORM,
      handler: (request, h) => {
        if (!tries.ceremonies.admits(whoTries(request))) throw problem('too_many_requests', { headers: { 'retry-after': '60' } });
        return passkeys.beginSignIn().then((begin) => h.response(begin).header('cache-control', 'no-store'));
      },
    },
    {
      method: 'POST', path: '/sign-in/passkey', options: FORM,
      handler: async (request, h) => {
        const answer = answerOf<AuthenticationResponseJSON>(fieldOf(request, 'answer'));
        const person = answer && await passkeys.signIn(answer, clientAddressOf(request));
        if (!person) return signInPage(request, h, true);
        const secret = await signIn.begin(request, person);
        return begun(h, secret, nextOf(fieldOf(request, 'next')));
      },
    },
    { method: 'GET', path: '/sign-in/link', options: SIGN_IN_PAGE, handler: (request, h) => linkPage(h, request.query.token) },
    {
      method: 'POST', path: '/sign-in/link', options: FORM,
      handler: async (request, h) => {
        const token = String(fieldOf(request, 'token'));
        const purpose = await signIn.linkFor(token);
        const { values, errors, given } = readForm(request, firstForm, await textsFor(request));
        if (purpose && 'first' in purpose && !values) return linkPage(h, token, { errors, given }, 400);
        const secret = purpose && await signIn.useLink(request, token, values);
        if (secret === null) return linkPage(h, null);
        const wanted = waiting.read(request);
        const response = begun(h, secret, after(nextOf(wanted && decodeURIComponent(wanted))));
        return wanted === null ? response : waiting.clear(response);
      },
    },
    { method: 'GET', path: '/sign-in/code', options: SIGN_IN_PAGE, handler: async (request, h) => codePage(h, await textsFor(request), nextOf(request.query.next)) },
    {
      method: 'POST', path: '/sign-in/code', options: FORM,
      handler: async (request, h) => {
        const t = await textsFor(request);
        const next = nextOf(fieldOf(request, 'next'));
        const { values, errors, given } = readForm(request, codeForm, t);
        if (!values) return codePage(h, t, next, { errors, given });
        if (!tries.codes.admits(whoTries(request))) throw problem('too_many_requests', { detail: 'Too many codes were tried from your address. Wait a quarter of an hour.', headers: { 'retry-after': '900' } });
        const secret = await signIn.useCode(request, values.code);
        if (secret === null) return codePage(h, t, next, { given, errors: { code: t('code.refused') } });
        return begun(h, secret, after(next));
      },
    },
    ...(mails ? mailRoutes(signIn, waiting) : []),
    {
      method: 'POST', path: '/sign-out', options: FORM,
      handler: async (request, h) => {
        await signIn.end(request);
        return sessions.keep(go(h, withNext('/sign-in', nextOf(fieldOf(request, 'next')))), null);
      },
    },
    {
      method: 'POST', path: '/account/workspaces/choose', options: FORM,
      handler: signedIn(async (visit, request, h) => {
        const { workspace, next } = (request.payload ?? {}) as Record<string, unknown>;
        const chosen = visit.memberships.find(({ id }) => id === workspace);
        if (!chosen) throw problem('workspace_forbidden', { detail: 'You do not belong to that workspace.' });
        await signIn.choose(visit, chosen);
        return go(h, nextOf(next));
      }),
    },
  ];
}

/** The answer is the same whether an account has the address or not. */
function mailRoutes({ tries, askForMail, linkSeconds, texts }: SignIn, waiting: Cookie): ServerRoute[] {
  function mailPage(h: ResponseToolkit, t: Texts, next: string, wrong?: { errors: Record<string, string>; given: Record<string, unknown> }): ResponseObject {
    return page(h, 'email', { title: t('email.title'), next, query: withNext('', next), ...wrong }, wrong ? 400 : 200);
  }

  return [
    { method: 'GET', path: '/sign-in/email', options: SIGN_IN_PAGE, handler: async (request, h) => mailPage(h, await texts(request.civic.language), nextOf(request.query.next)) },
    {
      method: 'POST', path: '/sign-in/email', options: FORM,
      handler: async (request, h) => {
        const t = await texts(request.civic.language);
        const wanted = wantedPage(fieldOf(request, 'next'));
        const { values, errors, given } = readForm(request, mailForm, t);
        if (!values) return mailPage(h, t, nextOf(wanted), { errors, given });
        const isBounded = tries.mails.admits(`from ${whoTries(request)}`) && tries.mails.admits(`to ${foldEmail(values.email)}`);
        if (isBounded) await askForMail(values.email, t.language);
        const response = page(h, 'email-sent', { title: t('email_sent.title'), email: values.email });
        return wanted === null ? response : waiting.set(response, encodeURIComponent(wanted), linkSeconds);
      },
    },
  ];
}

/** One customer of IPv6 has more addresses than anybody could count. */
export function whoTries(request: Request): string {
  return addressGroup(clientAddressOf(request));
}

/** Parses what the browser's script put into a field of the form; null when it is malformed. */
export function answerOf<Response>(field: unknown): Answer<Response> | null {
  try {
    const answer = JSON.parse(String(field)) as Answer<Response>;
    return typeof answer.ceremony === 'string' && /^[0-9a-f-]{36}$/.test(answer.ceremony) && typeof answer.response === 'object' && answer.response !== null ? answer : null;
  } catch {
    return null;
  }
}

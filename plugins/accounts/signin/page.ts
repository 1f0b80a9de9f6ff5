import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, type Language, type Texts } from 'civic';
import type { Sessions, Visit } from './sessions.ts';

export const PAGE = { plugins: { civic: { internal: true } } };
/** Declarations of routes that check a credential: they have their own rate limit, and their responses have no Server-Timing header. */
export const SIGN_IN = { rate: 'sign_in', untimed: true };
export const SIGN_IN_PAGE = { plugins: { civic: { internal: true, ...SIGN_IN } } };

export function page(h: ResponseToolkit, name: string, context: object, status = 200): ResponseObject {
  return h.view(name.includes('/') ? name : `accounts/${name}`, context).code(status).header('cache-control', 'private, no-store');
}

export type SignedInHandler = (visit: Visit, request: Request, h: ResponseToolkit, t: Texts) => Lifecycle.ReturnValue;

export interface Ways {
  /** To a page of ours. */
  go(h: ResponseToolkit, path: string): ResponseObject;
  /** For those who are signed in; others are asked to, and come back. Who must add a passkey first is led there, unless `passing`. */
  signedIn(work: SignedInHandler, options?: { passing?: boolean }): Lifecycle.Method;
  /** Returns what a user signs in for, such as "connect Field notes"; null when no plugin describes the page. */
  purposeOf(next: string, language: Language): Promise<string | null>;
}

/** Describes the pages below a path to users who must sign in first. */
export interface Purpose {
  /** Such as `/connect`. */
  path: string;
  /** Returns what follows "Sign in to" in a language, for a path with its query; in Spanish an infinitive. Null for a page that does not exist. */
  describe(next: string, language: Language): Promise<string | null> | string | null;
}

export function createWays(sessions: Sessions, purposes: Purpose[], texts: (language: Language) => Promise<Texts>): Ways {
  const go = (h: ResponseToolkit, path: string): ResponseObject => h.redirect(pagePath(h.request, path)).code(303).header('cache-control', 'no-store');
  return {
    go,
    signedIn: (work, { passing = false } = {}) => async (request, h) => {
      const visit = sessions.visitOf(request);
      const wanted = request.method === 'get' || request.method === 'head' ? request.path + request.url.search : HOME;
      if (!visit) return go(h, `/sign-in?next=${encodeURIComponent(wanted)}`);
      if (!visit.isFull && !passing) return go(h, withNext('/account/passkeys', wanted));
      return work(visit, request, h, await texts(request.civic.language));
    },
    purposeOf: async (next, language) => purposes.find(({ path }) => next === path || next.startsWith(`${path}/`) || next.startsWith(`${path}?`))?.describe(next, language) ?? null,
  };
}

/** Where a user goes after signing in, when no page is wanted. */
const HOME = '/account';

/** Adds the page that is wanted afterwards to a path. */
export function withNext(path: string, next: string): string {
  return next === HOME ? path : `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`;
}

/** Returns the page that is wanted afterwards, for a link or a field of a form; null when there is none. */
export function wantedPage(given: unknown): string | null {
  const next = nextOf(given);
  return next === HOME ? null : next;
}

const OURS = /^\/(?![/\\])[\x21-\x7e]*$/;

/** Where to go after signing in: a path of this instance, never another site. */
export function nextOf(given: unknown): string {
  return typeof given === 'string' && given.length < 2000 && OURS.test(given) ? given : HOME;
}

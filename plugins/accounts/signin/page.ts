import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath } from 'civic';
import type { Sessions, Visit } from './sessions.ts';

export const PAGE = { plugins: { civic: { internal: true } } };
/** Declarations of routes that check a credential: they have their own rate limit, and their responses have no Server-Timing header. */
export const SIGN_IN = { rate: 'sign_in', untimed: true };
export const SIGN_IN_PAGE = { plugins: { civic: { internal: true, ...SIGN_IN } } };

export function page(h: ResponseToolkit, name: string, context: object, status = 200): ResponseObject {
  return h.view(name.includes('/') ? name : `accounts/${name}`, context).code(status).header('cache-control', 'private, no-store');
}

export type SignedInHandler = (visit: Visit, request: Request, h: ResponseToolkit) => Lifecycle.ReturnValue;

export interface Ways {
  /** To a page of ours. */
  go(h: ResponseToolkit, path: string): ResponseObject;
  /** For those who are signed in; others are asked to, and come back. Who must add a passkey first is led there, unless `passing`. */
  signedIn(work: SignedInHandler, options?: { passing?: boolean }): Lifecycle.Method;
}

export function createWays(sessions: Sessions): Ways {
  const go = (h: ResponseToolkit, path: string): ResponseObject => h.redirect(pagePath(h.request, path)).code(303).header('cache-control', 'no-store');
  return {
    go,
    signedIn: (work, { passing = false } = {}) => (request, h) => {
      const visit = sessions.visitOf(request);
      if (!visit) return go(h, `/sign-in?next=${encodeURIComponent(request.method === 'get' ? request.path + request.url.search : '/account')}`);
      if (!visit.isFull && !passing) return go(h, '/account/passkeys');
      return work(visit, request, h);
    },
  };
}

const OURS = /^\/(?![/\\])[\x21-\x7e]*$/;

/** Where to go after signing in: a path of this instance, never another site. */
export function nextOf(given: unknown): string {
  return typeof given === 'string' && given.length < 2000 && OURS.test(given) ? given : '/account';
}

import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, type Texts } from 'civic';

export const PAGE = { plugins: { civic: { internal: true } } };

const DONE = ['retried', 'underway', 'not_failed', 'discarded', 'events_retried', 'backup_started', 'backup_running', 'confirm_again'] as const;
export type Done = (typeof DONE)[number];

/** Redirects to a page of the console, which shows what was done. */
export function go(request: Request, h: ResponseToolkit, path: string, done: Done): ResponseObject {
  return h.redirect(pagePath(request, `${path}?done=${done}`)).code(303).header('cache-control', 'no-store');
}

/** Returns the notice that the query names. Accepts only keys of a fixed list, so that a link cannot make the page show a text of an attacker. */
export function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = query.done as Done;
  return DONE.includes(done) ? t(`done.${done}`) : undefined;
}

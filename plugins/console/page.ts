import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, type Texts } from 'civic';

export const PAGE = { plugins: { civic: { internal: true } } };

const DONE = ['retried', 'underway', 'not_failed', 'discarded', 'events_retried', 'backup_started', 'backup_running', 'confirm_again'] as const;
export type Done = (typeof DONE)[number];

/** Leads to a page of the console, which then shows what was done. */
export function go(request: Request, h: ResponseToolkit, path: string, done: Done): ResponseObject {
  return h.redirect(pagePath(request, `${path}?done=${done}`)).code(303).header('cache-control', 'no-store');
}

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
export function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = query.done as Done;
  return DONE.includes(done) ? t(`done.${done}`) : undefined;
}

import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { Caller, Texts } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { Flags } from '../flags.ts';
import type { Conversation } from '../reporter/conversation.ts';
import type { Decisions, Reviewer } from '../review/decisions.ts';

export const REPORTS = '/console/reports';
export const PAGE = { plugins: { civic: { internal: true } } };

/** What the pages of reviewers use. */
export interface ConsoleContext {
  flags: Flags;
  decisions: Decisions;
  accounts: AccountsService;
  conversation: Conversation;
}

/** A request of a reviewer. */
export interface Review {
  visitor: Visitor;
  request: Request;
  h: ResponseToolkit;
  t: Texts;
}

const DONE = ['accepted', 'dismissed', 'resolved', 'cleared', 'undone'] as const;
export type Done = (typeof DONE)[number];

/** Returns the notice that the query names. Accepts only keys of a fixed list, so that a link cannot make the page show another text. */
export function noticeOf({ request: { query }, t }: Review): string | undefined {
  const done = query.done as Done;
  const count = /^\d{1,3}$/.test(String(query.count)) ? Number(query.count) : 1;
  if (query.none !== undefined) return t('queue.none_selected');
  return DONE.includes(done) ? t(`queue.done.${done}`, { count }) : undefined;
}

/** Returns the reviewer with the authority of their account. */
export function reviewerOf({ visitor: { account, doer } }: Review): Reviewer {
  const caller: Caller = {
    account_id: account.id, via: 'session', scope: ['flags:review'], role: account.role, plan: account.plan, capabilities: [], workspace_id: null, workspace_role: null,
  };
  return { caller, by: { ...doer, account_id: account.id } };
}

const KEYS = { j: 'j', k: 'k', Enter: 'enter', x: 'x', a: 'a', d: 'd', u: 'u', '?': 'help' };

/** Returns the keys of `assets/keys.js` with what they do. */
export function keysOf(t: Texts): { key: string; label: string }[] {
  return Object.entries(KEYS).map(([key, name]) => ({ key, label: t(`queue.keys_list.${name}`) }));
}

/** Returns a field of a form as text; empty when it is absent or repeated. */
export function textField(payload: unknown, name: string): string {
  const value = (payload as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the values of a field that a form may repeat. */
export function repeatedField(payload: unknown, name: string): string[] {
  const value = (payload as Record<string, unknown> | null)?.[name];
  return value === undefined ? [] : [value].flat().map(String);
}

import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { Accounts } from '../service.ts';
import type { Confirmation } from '../signin/confirm.ts';
import { page, type Ways } from '../signin/page.ts';
import type { Visit } from '../signin/sessions.ts';
import type { SignIn } from '../signin/signin.ts';

/** The context of the pages under `/account`. */
export interface SettingsContext {
  accounts: Accounts;
  signIn: SignIn;
  ways: Ways;
  confirmed: Confirmation['confirmed'];
  settingsPage: SettingsPage;
  /** The pages of other plugins. */
  entries: SettingsEntry[];
}

const PARTS = [
  ['account', 'Profile', '/account'],
  ['passkeys', 'Passkeys', '/account/passkeys'],
  ['recovery', 'Recovery codes', '/account/recovery-codes'],
  ['sessions', 'Sessions', '/account/sessions'],
  ['keys', 'API keys', '/account/keys'],
  ['workspaces', 'Workspaces', '/account/workspaces'],
  ['plan', 'Plan and usage', '/account/plan'],
] as const;

export type Part = (typeof PARTS)[number][0];

export interface Shown {
  /** The name of a page of this plugin, or the path of a page of another. */
  part: Part | `/account/${string}`;
  /** `keys` is a template of this plugin, `oauth/apps` of another. */
  template: string;
  title: string;
  status?: number;
}

/** An entry in the navigation of `/account`. */
export interface SettingsEntry {
  label: string;
  /** Below `/account/`. */
  path: string;
  /** What a user does there about a security notice that they do not recognise: "disconnect apps". */
  remedy?: string;
}

export type SettingsPage = (h: ResponseToolkit, visit: Visit, shown: Shown, context: object) => ResponseObject;

/** Returns a function that shows a page under `/account` with the navigation to the others, also of plugins. An account that must add a passkey first gets no navigation. */
export function createSettingsPage(added: SettingsEntry[]): SettingsPage {
  return (h, visit, { part, template, title, status }, context) => {
    const own = PARTS.map(([name, label, path]) => ({ label, path, isHere: name === part }));
    const parts = visit.isFull ? [...own, ...added.map(({ label, path }) => ({ label, path, isHere: path === part }))] : [];
    return page(h, template, { title, parts, ...context }, status);
  };
}

const DONE: Record<string, string> = {
  saved: 'Your profile is saved.',
  requested: 'Almost done: the new e-mail address counts once it is confirmed.',
  cancelled: 'The change of the e-mail address is cancelled.',
  passkey: 'The passkey is added. You can sign in with it from now on.',
  renamed: 'The passkey has its new name.',
  removed: 'The passkey is removed.',
  revoked: 'The key is revoked. It stops working within a second.',
  ended: 'That session is ended.',
  made: 'The workspace is created.',
  invited: 'The invitation is sent. It is pending until it is accepted.',
  declined: 'The invitation is declined.',
  left: 'You left the workspace.',
  member: 'The role is saved.',
  gone: 'The member is removed.',
  withdrawn: 'The invitation is withdrawn.',
  joined: 'Welcome! You are a member now.',
};

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
export function noticeOf({ query }: Request): string | undefined {
  const done = query.done as unknown;
  return typeof done === 'string' && Object.hasOwn(DONE, done) ? DONE[done] : undefined;
}

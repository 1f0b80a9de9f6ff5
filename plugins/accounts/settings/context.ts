import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { Texts } from 'civic';
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
  ['account', 'parts.account', '/account'],
  ['passkeys', 'parts.passkeys', '/account/passkeys'],
  ['recovery', 'parts.recovery', '/account/recovery-codes'],
  ['sessions', 'parts.sessions', '/account/sessions'],
  ['keys', 'parts.keys', '/account/keys'],
  ['memberships', 'parts.workspaces', '/account/workspaces'],
  ['plan', 'parts.plan', '/account/plan'],
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
  /** The plugin whose catalogue has the texts that `label` and `remedy` then name: `apps.title`. Without it they are texts themselves. */
  plugin?: string;
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
    const own = PARTS.map(([name, label, path]) => ({ plugin: 'accounts', label, path, isHere: name === part }));
    const parts = visit.isFull ? [...own, ...added.map(({ plugin, label, path }) => ({ plugin, label, path, isHere: path === part }))] : [];
    return page(h, template, { title, parts, ...context }, status);
  };
}

const DONE = new Set([
  'saved', 'requested', 'cancelled', 'passkey', 'renamed', 'removed', 'revoked', 'ended', 'made', 'invited', 'declined', 'left', 'member', 'gone', 'withdrawn', 'joined', 'workspace_renamed', 'workspace_deleted',
]);

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
export function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = query.done as unknown;
  return typeof done === 'string' && DONE.has(done) ? t(`done.${done}`) : undefined;
}

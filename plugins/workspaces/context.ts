import type { Request } from '@hapi/hapi';
import { problem, singleLine, type Caller, type Civic, type Reader, type Tx } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { DirectoryService } from 'civic/directory';
import type { WorkspacesConfig } from './config.ts';

export type Workspace = Visitor['workspaces'][number];
/** What the plugin counts itself. */
export type Meter = 'record_writes' | 'exports';
export type WorkspaceRole = Workspace['role'];

/** The services that all parts of the plugin use. */
export interface Workspaces {
  civic: Civic<WorkspacesConfig>;
  accounts: AccountsService;
  directory: DirectoryService;
  /** Returns the canonical key of a place by key or slug. Throws `unknown_place`. */
  placeKey(reader: Reader, given: string): Promise<string>;
  /** Counts a use of a workspace, in its transaction. */
  use(tx: Tx, context: WorkspaceContext, meter: Meter, amount?: number): Promise<void>;
}

/** A workspace, and the caller inside it. */
export interface WorkspaceContext {
  workspace: Workspace;
  /** `workspace_id` is this workspace, whichever one the credential works in by default. */
  caller: Caller;
}

/** Returns the context of a request as it is now; throws once the membership has ended. */
export type OpenContext = (reader: Reader) => Promise<WorkspaceContext>;

/** What the routes of a workspace require. */
export const reading = { mode: 'required' as const, access: { scope: ['workspace:read'] } };
export const writing = { mode: 'required' as const, access: { scope: ['workspace:write'] } };

/** The problems that `contextOf` throws, for declarations of routes. */
export const CONTEXT_PROBLEMS = ['unknown_workspace', 'workspace_forbidden'];

export function createContext(civic: Civic<WorkspacesConfig>): Workspaces {
  const directory = civic.service('directory');
  const accounts = civic.service('accounts');
  return {
    civic, directory, accounts,
    use: (tx, { caller }, meter, amount) => accounts.workspaceHooks.use(tx, caller, meter, amount),
    async placeKey(reader, given) {
      const key = await directory.placeKey(reader, given);
      if (key === null) throw problem('unknown_place', { detail: `No place has the key ${singleLine(given, 100)}; /api/places?query= finds places by name.` });
      return key;
    },
  };
}

/**
 * Returns the workspace in the path of a request, for API keys and access tokens. Throws `unknown_workspace` (404) when the caller is not a
 * member or the token is for another workspace, and `workspace_forbidden` (403) when the role there is lower than `least`.
 * With a transaction as reader, a membership that ended before it is noticed.
 */
export async function contextOf({ accounts }: Workspaces, reader: Reader, request: Request, least?: WorkspaceRole): Promise<WorkspaceContext> {
  return contextIn(accounts, reader, request.auth.credentials as unknown as Caller, String(request.params.id), least);
}

/** Returns the same for an id that is not in a path, such as the argument of a tool. */
export async function contextIn(accounts: AccountsService, reader: Reader, caller: Caller, workspaceId: string, least?: WorkspaceRole): Promise<WorkspaceContext> {
  const workspace = await accounts.workspaceFor(reader, caller, workspaceId, least);
  return { workspace, caller: { ...caller, workspace_id: workspace.id, workspace_role: workspace.role } };
}

/** Returns the same for a signed-in user of a page. Throws `not_found` when the user does not belong to the workspace. */
export async function contextOfVisitor({ accounts }: Workspaces, reader: Reader, visitor: Visitor, workspaceId: string, least?: WorkspaceRole): Promise<WorkspaceContext> {
  const { id, role, plan } = visitor.account;
  const known = visitor.workspaces.find((one) => one.id === workspaceId.toLowerCase());
  if (!known) throw problem('not_found');
  return contextIn(accounts, reader, { account_id: id, via: 'session', scope: [], role, plan, capabilities: [], workspace_id: known.id, workspace_role: known.role }, known.id, least);
}

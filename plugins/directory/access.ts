import type { Request } from '@hapi/hapi';
import { problem, type Caller } from 'civic';
import type { Editor, Visibility } from './types.ts';

/** The one place that decides who may see and change what. */

interface Owned {
  visibility: Visibility;
  workspace_id: string | null;
}

/** Scopes of which a key needs one to read records of its workspace. Routes that write need `entities:write` anyway. */
const READ_SCOPES = ['directory:read', 'entities:write'];

function hasReadScope({ via, scope }: Caller): boolean {
  return via === 'session' || READ_SCOPES.some((one) => scope.includes(one));
}

/** Returns the caller of a request as the directory sees it. */
export function callerOf(request: Request): Caller | null {
  return readingCaller(authenticatedCaller(request));
}

/** Returns the caller; without a scope that reads the directory, in no workspace: public records need no scope. */
export function readingCaller(caller: Caller | null): Caller | null {
  return caller && !hasReadScope(caller) ? { ...caller, workspace_id: null, workspace_role: null } : caller;
}

export function authenticatedCaller(request: Request): Caller | null {
  return request.auth.isAuthenticated ? (request.auth.credentials as unknown as Caller) : null;
}

/** The workspace whose own things the caller asked to see besides the public ones. */
export function workspaceAsked(caller: Caller | null, visibility: Visibility | undefined): string | null {
  if (visibility !== 'workspace') return null;
  if (!caller) throw problem('authentication_required', { detail: 'visibility=workspace shows what belongs to a workspace: say who you are.' });
  if (!hasReadScope(caller)) {
    throw problem('insufficient_scope', {
      detail: `visibility=workspace needs the scope ${READ_SCOPES.join(' or ')}.`,
      // Clients ask the user for every scope that is listed, and reading is enough.
      extra: { scopes: READ_SCOPES.slice(0, 1) },
    });
  }
  return caller.workspace_id;
}

/** Whether a record exists for the caller: a private one exists for its workspace only. */
export function maySee({ visibility, workspace_id }: Owned, caller: Pick<Caller, 'workspace_id'> | null): boolean {
  return visibility === 'public' || (caller !== null && workspace_id !== null && workspace_id === caller.workspace_id);
}

/** Returns the workspace whose own records are shown with an actor: none with a public one, which everybody sees alike. */
export function workspaceBeside({ visibility, workspace_id }: Pick<Owned, 'visibility' | 'workspace_id'>): string | null {
  return visibility === 'public' ? null : workspace_id;
}

/** Checks the authority over an actor that the caller may see: reviewers change public actors, members those of their workspace. */
export function checkMayChange(actor: Owned, caller: Pick<Caller, 'role'>): void {
  if (actor.visibility === 'public' && caller.role === 'user') {
    throw problem('permission_required', { detail: 'A public actor is changed by reviewers and administrators; report a mistake with a flag instead.' });
  }
}

/** Whether the caller may make actors public. */
export function mayPublish(caller: Caller): boolean {
  return caller.role !== 'user';
}

/** What is private belongs to a workspace: without one nobody, its writer neither, could ever see it. */
export function checkOwner(visibility: Visibility, caller: Caller, where: { pointer: string } | { parameter: string }): void {
  if (visibility === 'public' || caller.workspace_id !== null) return;
  const detail = 'you are in no workspace that it could belong to: choose one, or make it public';
  throw problem('invalid_request', { detail: `visibility: ${detail}.`, errors: [{ ...where, detail }] });
}

export function editorOf(caller: Caller): Editor {
  return { kind: caller.role === 'user' ? 'person' : 'reviewer', account_id: caller.account_id, workspace_id: caller.workspace_id };
}

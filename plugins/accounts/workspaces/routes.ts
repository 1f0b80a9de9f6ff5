import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf } from 'civic';
import { auditOfWorkspace, countOfWorkspace } from '../audit/store.ts';
import { accountCallerOf, callerOf, doerOf, reading, writing } from '../access.ts';
import { personById } from '../people/store.ts';
import { workspaceRecord, type Accounts } from '../service.ts';
import { deleteWorkspace, setWorkspaceName } from './remove.ts';
import { auditList, newWorkspace, wholeList, workspace, workspaceChange, workspaceDeletion } from './schemas.ts';
import { membershipsOf } from './store.ts';
import { checkedId, createWorkspace, workspaceFor, workspaceToChange } from './workspaces.ts';

const noQuery = Joi.object({});
const params = Joi.object({ id: Joi.string() });

/** Workspaces and what happened in them. */
export function workspaceRoutes(accounts: Accounts): ServerRoute[] {
  const { civic } = accounts;
  return [
    {
      method: 'GET',
      path: '/api/workspaces',
      options: {
        description: 'The workspaces you belong to, your personal one first',
        notes: 'Send the id of one as `X-Workspace-ID` to work in it; without the header a key works in the workspace it was created for.',
        auth: reading,
        validate: { query: noQuery },
        response: { schema: wholeList(workspace, 'WorkspaceList') },
      },
      async handler(request) {
        const { account_id, via, workspace_id } = callerOf(request);
        const all = await accounts.service.workspacesOf(civic.db.read, account_id);
        return whole(via === 'token' ? all.filter(({ id }) => id === workspace_id) : all);
      },
    },
    {
      method: 'POST',
      path: '/api/workspaces',
      options: {
        description: 'Create a workspace that others can be invited to',
        notes: 'You become its owner. A personal workspace, which every account has, takes no other members.',
        auth: writing,
        validate: { query: noQuery, payload: newWorkspace },
        plugins: { civic: { problems: ['membership_limit', 'workspace_forbidden'] } },
        response: { status: { 201: workspace } },
      },
      async handler(request, h) {
        const { name } = request.payload as { name: string };
        const made = await civic.db.write(async (tx) => {
          const person = (await personById(tx, accountCallerOf(request).account_id))!;
          await createWorkspace(accounts.workspaces, tx, { name, owner: person, isPersonal: false }, doerOf(request));
          return workspaceRecord((await membershipsOf(tx, person.key)).at(-1)!);
        });
        return h.response(made).code(201).location(civic.url(`/api/workspaces/${made.id}`));
      },
    },
    {
      method: 'GET',
      path: '/api/workspaces/{id}',
      options: {
        description: 'One workspace you belong to',
        notes: '`role` is your own role in it. A workspace you do not belong to is 404.',
        auth: reading,
        validate: { query: noQuery, params },
        plugins: { civic: { problems: ['unknown_workspace'] } },
        response: { schema: workspace },
      },
      handler: async (request) => workspaceRecord(await workspaceFor(civic.db.read, callerOf(request), idIn(request))),
    },
    {
      method: 'PATCH',
      path: '/api/workspaces/{id}',
      options: {
        description: 'Rename a workspace',
        notes: 'For owners and administrators.',
        auth: writing,
        validate: { query: noQuery, params, payload: workspaceChange },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden'] } },
        response: { schema: workspace },
      },
      handler: (request) => civic.db.write(async (tx) => {
        const own = await workspaceToChange(tx, callerOf(request), idIn(request), 'admin');
        await setWorkspaceName(accounts.workspaces, tx, own, (request.payload as { name: string }).name, doerOf(request));
        return workspaceRecord(await workspaceFor(tx, callerOf(request), own.id));
      }),
    },
    {
      method: 'DELETE',
      path: '/api/workspaces/{id}',
      options: {
        description: 'Delete a workspace with everything in it',
        notes: 'For owners. `name` repeats the name of the workspace. Its private records are deleted, its keys are revoked, and tokens for it no longer work. This cannot be undone: export first what you need. A personal workspace cannot be deleted.',
        auth: writing,
        validate: { query: workspaceDeletion, params },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden', 'personal_workspace', 'name_mismatch'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        await civic.db.write(async (tx) => {
          const own = await workspaceToChange(tx, callerOf(request), idIn(request), 'owner');
          await deleteWorkspace(accounts.workspaces, accounts.workspaceHooks, tx, own, String(request.query.name), doerOf(request));
        });
        return h.response().code(204);
      },
    },
    {
      method: 'GET',
      path: '/api/workspaces/{id}/audit',
      options: {
        description: 'Security events of a workspace, the latest first; for its owners and administrators',
        notes: 'Members that came, went or changed role, invitations, and keys of the workspace. Events are never changed or deleted.',
        auth: reading,
        validate: { query: Joi.object({ limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string() }), params },
        plugins: { civic: { problems: ['unknown_workspace', 'workspace_forbidden'] } },
        response: { schema: auditList },
      },
      async handler(request, h) {
        const page = pageOf(request, ['integer']);
        const { id } = await workspaceFor(civic.db.read, callerOf(request), idIn(request), 'admin');
        const rows = await auditOfWorkspace(civic.db.read, id, page.after === null ? null : Number(page.after[0]), page.limit + 1);
        const data = rows.slice(0, page.limit).map(({ seq, at, kind, account_id, subject, detail }) => ({ seq, at, kind, account_id, subject, detail }));
        return listResponse(request, h, page, { data, total: await countOfWorkspace(civic.db.read, id), next: rows.length > page.limit ? [data.at(-1)!.seq] : null });
      },
    },
  ];
}

/** A list that is answered whole. */
export function whole<T>(data: T[]): { data: T[]; total: number; next_cursor: null } {
  return { data, total: data.length, next_cursor: null };
}

/** The id in the path; one that is none belongs to no workspace. */
export function idIn(request: Request): string {
  return checkedId(String(request.params.id));
}

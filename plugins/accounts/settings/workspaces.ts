import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, problem, readForm, type Texts } from 'civic';
import { PAGE } from '../signin/page.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import { WORKSPACE_ROLES, type WorkspaceRole } from '../types.ts';
import { invite, inviteAccount, withdrawInvitation } from '../workspaces/invitations.ts';
import { openInvitations, receivedInvitations } from '../workspaces/invitations-store.ts';
import { membersOf } from '../workspaces/store.ts';
import { deleteWorkspace, setWorkspaceName } from '../workspaces/remove.ts';
import { canManage, createWorkspace, removeMember, setMemberRole, workspaceFor, workspaceToChange, type Membership } from '../workspaces/workspaces.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { emailField, nameField } from './fields.ts';
import { when } from './words.ts';

const nameForm = Joi.object<{ name: string }>({ name: nameField });
const roleForm = Joi.object<{ role: WorkspaceRole }>({ role: Joi.string().valid(...WORKSPACE_ROLES).required().label('the role') });
const inviteForm = Joi.object<{ email: string; role: WorkspaceRole }>({ email: emailField.required(), role: Joi.string().valid(...WORKSPACE_ROLES).default('member').label('the role') });

export function workspacePageRoutes({ accounts: { civic, workspaces, workspaceHooks }, signIn, ways: { go, signedIn }, confirmed, settingsPage }: SettingsContext): ServerRoute[] {
  async function listPage(h: ResponseToolkit, visit: Visit, t: Texts, more: object = {}, status = 200): Promise<ResponseObject> {
    const now = civic.clock.now();
    const received = (await receivedInvitations(civic.db.read, visit.person, civic.clock.iso())).map((one) => ({ ...one, made: when(one.created_at, now, t), expires: when(one.expires_at, now, t) }));
    return settingsPage(h, visit, { part: 'memberships', template: 'memberships', title: t('parts.workspaces'), status }, {
      all: visit.memberships.map(({ id, name, role, personal_of }) => ({ id, name, role, isPersonal: personal_of !== null, isChosen: id === visit.workspace?.id })), hasChoice: visit.memberships.length > 1, received, ...more,
    });
  }

  async function onePage(h: ResponseToolkit, visit: Visit, t: Texts, own: Membership, more: object = {}, status = 200): Promise<ResponseObject> {
    const now = civic.clock.now();
    const manages = canManage(own.role);
    const roles = rolesUpTo(own.role);
    const rows = await membersOf(civic.db.read, own.key);
    const isOnlyOwner = own.role === 'owner' && rows.filter(({ role }) => role === 'owner').length === 1;
    const members = rows.map(({ account_id, name, role, since }) => ({
      account_id, name, role, since: when(since, now, t), isYou: account_id === visit.person.id, isManaged: manages && account_id !== visit.person.id && roles.some((one) => one.role === role),
      roles: roles.map((one) => ({ ...one, isChosen: one.role === role })),
    }));
    const open = manages ? (await openInvitations(civic.db.read, own.key, civic.clock.iso())).map(({ id, role, email, account_id, created_at, expires_at }) => ({ id, role, email, account_id, made: when(created_at, now, t), expires: when(expires_at, now, t) })) : [];
    return settingsPage(h, visit, { part: 'memberships', template: 'workspace', title: own.name, status }, {
      own: { id: own.id, role: own.role }, more: await civic.pages.parts('accounts.workspace', h.request), members, links: open.filter(({ email, account_id }) => email === null && account_id === null), pending: open.filter(({ email, account_id }) => email !== null || account_id !== null), manages: manages && own.personal_of === null, isPersonal: own.personal_of !== null,
      canLeave: own.personal_of === null && !isOnlyOwner, roles: roles.map((one) => ({ ...one, isChosen: one.role === 'member' })), days: civic.config.invitation_days, canRename: manages, canDelete: own.role === 'owner' && own.personal_of === null, nameGiven: { name: own.name }, ...more,
    });
  }

  const caller = ({ person }: Visit) => ({ account_id: person.id, via: 'session' as const, workspace_id: null });
  const by = (request: Request, { person }: Visit) => doerOf(request, person.id);
  const path = (request: Request): string => `/account/workspaces/${request.params.id}`;

  return [
    { method: 'GET', path: '/account/workspaces', options: PAGE, handler: signedIn((visit, request, h, t) => listPage(h, visit, t, { notice: noticeOf(request, t) })) },
    {
      method: 'POST', path: '/account/workspaces', options: formOptions(),
      handler: signedIn(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, nameForm, t);
        if (!values) return listPage(h, visit, t, { errors, given }, 400);
        const made = await civic.db.write((tx) => createWorkspace(workspaces, tx, { name: values.name, owner: visit.person, isPersonal: false }, by(request, visit)));
        await signIn.choose(visit, { ...made, role: 'owner' });
        return go(h, `/account/workspaces/${made.id}?done=made`);
      }),
    },
    {
      method: 'GET', path: '/account/workspaces/{id}', options: PAGE,
      handler: signedIn(async (visit, request, h, t) => onePage(h, visit, t, await workspaceFor(civic.db.read, caller(visit), idOf(request.params.id)), { notice: noticeOf(request, t) })),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}', options: formOptions(),
      handler: signedIn(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, nameForm, t);
        if (!values) return onePage(h, visit, t, await workspaceFor(civic.db.read, caller(visit), idOf(request.params.id), 'admin'), { nameErrors: errors, nameGiven: given }, 400);
        await civic.db.write(async (tx) => setWorkspaceName(workspaces, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'admin'), values.name, by(request, visit)));
        return go(h, `${path(request)}?done=workspace_renamed`);
      }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/delete', options: formOptions(),
      handler: confirmed(async (visit, request, h, t) => {
        const typed = String((request.payload as Record<string, unknown> | null)?.['typed_name'] ?? '');
        const own = await workspaceFor(civic.db.read, caller(visit), idOf(request.params.id), 'owner');
        if (typed.trim() !== own.name) return onePage(h, visit, t, own, { deleteErrors: { typed_name: t('workspace.wrong_name') } }, 400);
        await civic.db.write(async (tx) => deleteWorkspace(workspaces, workspaceHooks, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'owner'), typed, by(request, visit)));
        return go(h, '/account/workspaces?done=workspace_deleted');
      }, { back: path }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/members', options: formOptions(),
      handler: signedIn(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, inviteForm, t);
        if (!values) return onePage(h, visit, t, await workspaceFor(civic.db.read, caller(visit), idOf(request.params.id), 'admin'), { errors, given }, 400);
        await civic.db.write(async (tx) => inviteAccount(workspaces, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'admin'), { email: values.email }, values.role, by(request, visit)));
        return go(h, `${path(request)}?done=invited`);
      }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/invitations', options: formOptions(),
      handler: signedIn(async (visit, request, h, t) => {
        const role = readForm(request, roleForm).values?.role ?? 'member';
        const { own, made } = await civic.db.write(async (tx) => {
          const found = await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'admin');
          return { own: found, made: await invite(workspaces, tx, found, role, by(request, visit)) };
        });
        return onePage(h, visit, t, own, { made });
      }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/invitations/{invitation}/withdraw', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        await civic.db.write(async (tx) => withdrawInvitation(workspaces, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'admin'), idOf(request.params.invitation), by(request, visit)));
        return go(h, `${path(request)}?done=withdrawn`);
      }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/members/{account}/role', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const { values } = readForm(request, roleForm);
        if (!values) throw problem('invalid_request', { detail: `The role is one of ${WORKSPACE_ROLES.join(', ')}.` });
        await civic.db.write(async (tx) => setMemberRole(workspaces, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id), 'admin'), String(request.params.account), values.role, by(request, visit)));
        return go(h, `${path(request)}?done=member`);
      }),
    },
    {
      method: 'POST', path: '/account/workspaces/{id}/members/{account}/remove', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const account = String(request.params.account).toLowerCase();
        await civic.db.write(async (tx) => removeMember(workspaces, workspaceHooks, tx, await workspaceToChange(tx, caller(visit), idOf(request.params.id)), account, by(request, visit)));
        return go(h, account === visit.person.id ? '/account/workspaces?done=left' : `${path(request)}?done=gone`);
      }),
    },
  ];
}

function idOf(given: unknown): string {
  const id = String(given).toLowerCase();
  if (!isId(id)) throw problem('not_found', { detail: 'There is nothing of that id.' });
  return id;
}

/** Nobody gives away more than they have. */
function rolesUpTo(own: WorkspaceRole): { role: WorkspaceRole }[] {
  return WORKSPACE_ROLES.slice(0, WORKSPACE_ROLES.indexOf(own) + 1).map((role) => ({ role }));
}

import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, problem, readForm, type Texts } from 'civic';
import type { ShownKey } from '../keys/keys.ts';
import { PAGE } from '../signin/page.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import { noticeOf, type SettingsContext } from './context.ts';
import { nameField } from './fields.ts';
import { when } from './words.ts';

const SHOWN = { part: 'keys', template: 'keys' } as const;
const DAY = 86_400_000;
/** In days; 0 is no end. */
const LIFETIMES = [30, 90, 365, 0];

const formSchema = (scopes: string[]) => Joi.object<{ name: string; scopes: string[]; lives: number; workspace: string }>({
  name: nameField,
  scopes: Joi.array().items(Joi.string().valid(...scopes)).single().min(1).required().label('scopes').messages({ '*': 'fields.no_scopes' }),
  lives: Joi.number().valid(...LIFETIMES).default(90).label('the expiry'),
  workspace: Joi.string().required().label('the workspace'),
});

export function keyRoutes({ accounts: { civic, keys, plans, scopes }, ways: { go, signedIn }, confirmed, settingsPage }: SettingsContext): ServerRoute[] {
  const form = formSchema(scopes.names);

  async function keysPage(h: ResponseToolkit, visit: Visit, t: Texts, more: { status?: number; given?: Record<string, unknown>; errors?: Record<string, string>; notice?: string } = {}): Promise<ResponseObject> {
    const { person, memberships, workspace } = visit;
    const now = civic.clock.now();
    const plan = plans.current(person, now);
    const all = (await keys.list(civic.db.read, person.key)).reverse().map((one) => shownKey(one, visit, now, t));
    const usable = all.filter(({ state }) => state === 'active');
    const chosen = more.given ? [more.given['scopes'] ?? []].flat() : scopes.usual(plan, person.role);
    const allowed = plan.limits['keys']!;
    return settingsPage(h, visit, { ...SHOWN, title: t('parts.keys'), status: more.status }, {
      usable, past: all.filter(({ state }) => state !== 'active'), allowed, used: usable.length, plan: plan.name, canMake: usable.length < allowed,
      plans: plans.including('api_keys').join(', '),
      scopes: scopes.allowed(plan, person.role).map((scope) => ({ scope, label: scopes.labelOf(scope, t), isChosen: chosen.includes(scope) })),
      lives: LIFETIMES.map((days) => ({ days, isChosen: String(days) === String(more.given?.['lives'] ?? 90) })),
      workspaces: memberships.map(({ id, name }) => ({ id, name, isChosen: id === (more.given?.['workspace'] ?? workspace?.id) })), hasChoice: memberships.length > 1,
      ...more,
    });
  }

  return [
    { method: 'GET', path: '/account/keys', options: PAGE, handler: signedIn((visit, request, h, t) => keysPage(h, visit, t, { notice: noticeOf(request, t) })) },
    {
      method: 'POST', path: '/account/keys', options: formOptions(),
      handler: confirmed(async (visit, request, h, t) => {
        const { values, errors, given } = readForm(request, form, t);
        if (!values) return keysPage(h, visit, t, { given, errors, status: 400 });
        const expires_at = values.lives === 0 ? null : new Date(civic.clock.now() + values.lives * DAY).toISOString();
        const made = await civic.db.write((tx) => keys.create(tx, visit.person, { name: values.name, scopes: values.scopes, expires_at, workspace_id: values.workspace }, doerOf(request, visit.person.id)));
        return settingsPage(h, visit, { ...SHOWN, template: 'key-made', title: t('key_made.title') }, { made, expires: when(expires_at, civic.clock.now(), t), example: `curl -H 'X-API-Key: ${made.key}' ${civic.url('/api/workspaces')}` });
      }),
    },
    {
      method: 'GET', path: '/account/keys/{id}/revoke', options: PAGE,
      handler: signedIn(async (visit, request, h, t) => {
        const now = civic.clock.now();
        const one = (await keys.list(civic.db.read, visit.person.key)).find(({ id, revoked_at }) => id === request.params.id && revoked_at === null);
        if (!one) throw problem('not_found', { detail: 'You have no such key, or it is revoked already.' });
        return settingsPage(h, visit, { ...SHOWN, template: 'key-revoke', title: t('key_revoke.title') }, { one: shownKey(one, visit, now, t) });
      }),
    },
    {
      method: 'POST', path: '/account/keys/{id}/revoke', options: formOptions(),
      handler: signedIn(async (visit, request, h) => {
        const revoked = await civic.db.write((tx) => keys.revoke(tx, String(request.params.id), doerOf(request, visit.person.id), visit.person.id));
        if (!revoked) throw problem('not_found', { detail: 'You have no such key.' });
        return go(h, '/account/keys?done=revoked');
      }),
    },
  ];
}

function shownKey({ id, name, scopes, workspace_id, created_at, expires_at, revoked_at, last_used_at }: ShownKey, { memberships }: Visit, now: number, t: Texts) {
  const isExpired = expires_at !== null && Date.parse(expires_at) <= now;
  return {
    id, name, scopes, state: revoked_at ? 'revoked' : isExpired ? 'expired' : 'active', workspace: memberships.find((one) => one.id === workspace_id)?.name ?? t('keys.former_workspace'),
    made: when(created_at, now, t), expires: when(expires_at, now, t), revoked: when(revoked_at, now, t), used: when(last_used_at, now, t),
  };
}

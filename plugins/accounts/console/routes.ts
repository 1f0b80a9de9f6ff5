import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, problem, readForm, type Texts, type Tx } from 'civic';
import { auditOfAccount } from '../audit/store.ts';
import { momentOf } from '../dates.ts';
import { claimEmail } from '../people/email.ts';
import { foldEmail } from '../people/people.ts';
import { lockedPerson, peoplePage, personByEmail, personById, type PersonRow } from '../people/store.ts';
import { emailField, nameField } from '../settings/fields.ts';
import type { SettingsContext } from '../settings/context.ts';
import { when } from '../settings/words.ts';
import { createAccountLink } from '../signin/links.ts';
import { page, PAGE } from '../signin/page.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import { INSTANCE_ROLES, type InstanceRole } from '../types.ts';
import { recentEvents } from './audit.ts';
import { checkAdmin, consoleParts } from './plugin-pages.ts';
import { shownEvent } from './words.ts';

const PAGE_SIZE = 50;
const EVENTS_SHOWN = 20;
const HOME = '/console/accounts';
const AUDIT = '/console/audit';
const DONE = new Set(['email', 'plan', 'role', 'disabled', 'enabled']);

interface Admin { visit: Visit; request: Request; h: ResponseToolkit; t: Texts }

/** Accounts of the whole instance, for its administrators. */
export function consoleRoutes({ accounts, ways: { go, signedIn }, confirmed, homeOf }: SettingsContext & { homeOf: Lifecycle.Method }): ServerRoute[] {
  const { civic, auditKinds, emails, people, plans, record } = accounts;
  const newForm = Joi.object<{ name: string; email: string | null; plan: string; role: InstanceRole }>({
    name: nameField, email: emailField.allow('').empty('').default(null), plan: Joi.string().valid(...plans.all.map(({ name }) => name)).default(plans.operatorPlan), role: Joi.string().valid(...INSTANCE_ROLES).required(),
  });
  const dayToCome = (day: string): string | null => {
    const moment = momentOf(day);
    return moment !== null && Date.parse(moment) > civic.clock.now() ? moment : null;
  };
  const planForm = Joi.object<{ plan: string; until: string | null }>({
    plan: Joi.string().valid(...plans.all.map(({ name }) => name)).required(),
    until: Joi.string().custom((day: string, helpers) => dayToCome(day) ?? helpers.error('any.invalid')).allow('').empty('').default(null).messages({ 'any.invalid': 'fields.past_date' }),
  });
  const roleForm = Joi.object<{ role: InstanceRole }>({ role: Joi.string().valid(...INSTANCE_ROLES).required() });

  const reading = (work: (admin: Admin) => Lifecycle.ReturnValue): Lifecycle.Method => signedIn((visit, request, h, t) => {
    checkAdmin(visit.person);
    return work({ visit, request, h, t });
  });
  /** Every change in the console grants or revokes access, so all of them need recent authentication. */
  const administering = (work: (admin: Admin) => Lifecycle.ReturnValue): Lifecycle.Method => confirmed((visit, request, h, t) => work({ visit, request, h, t }), { check: ({ person }) => checkAdmin(person) });
  /** Of two who shut out each other at once, the second no longer may. */
  const write = <T>({ visit }: Admin, work: (tx: Tx) => Promise<T>): Promise<T> => claimEmail(civic.db, async (tx) => {
    checkAdmin(await lockedPerson(tx, visit.person.key));
    return work(tx);
  });
  const shown = (h: ResponseToolkit, template: string, title: string, context: object, status = 200, path = HOME): ResponseObject => page(h, template, {
    title, console: true, parts: consoleParts(accounts.consolePages, path), ...context,
  }, status);
  const planChoices = (chosen: string) => plans.all.map(({ name, days }) => ({ name, days, isChosen: name === chosen }));
  const roleChoices = (chosen: InstanceRole) => INSTANCE_ROLES.map((role) => ({ role, isChosen: role === chosen }));

  async function listPage({ request, h, t }: Admin, more: object = {}, status = 200): Promise<ResponseObject> {
    const query = typeof request.query.query === 'string' ? request.query.query.replaceAll('\0', '').trim().slice(0, 100) : '';
    const after = /^\d{1,15}$/.test(String(request.query.after)) ? Number(request.query.after) : 0;
    const rows = await peoplePage(civic.db.read, { query, after, limit: PAGE_SIZE + 1 });
    const next = rows.length > PAGE_SIZE ? `${HOME}?${new URLSearchParams({ ...(query ? { query } : {}), after: String(rows[PAGE_SIZE - 1]!.key) })}` : null;
    return shown(h, 'console-accounts', t('console.accounts'), {
      query, next, all: rows.slice(0, PAGE_SIZE).map((row) => ({ ...people.accountOf(row), since: t.formatDate(row.created_at) })),
      plans: planChoices(plans.operatorPlan), roles: roleChoices('user'), ...more,
    }, status);
  }

  async function onePage({ visit, request, h, t }: Admin, person: PersonRow, more: object = {}, status = 200): Promise<ResponseObject> {
    const now = civic.clock.now();
    const account = people.accountOf(person);
    const done = String(request.query.done);
    const events = (await auditOfAccount(civic.db.read, person.id, EVENTS_SHOWN)).map((row) => ({ at: when(row.at, now, t), ...shownEvent(row, person.id, auditKinds, t), address: row.address }));
    const pending = await emails.pendingOf(person);
    return shown(h, 'console-account', person.name, {
      pending: pending?.email,
      ...account, since: t.formatDate(person.created_at), until: when(person.plan_until, now, t), isYou: person.id === visit.person.id, events,
      hasLapsed: account.plan !== person.plan, heldPlan: person.plan, plans: planChoices(person.plan), roles: roleChoices(person.role),
      notice: DONE.has(done) ? t(`console.done.${done}`) : undefined, ...more,
    }, status);
  }

  async function auditPage({ request, h, t }: Admin): Promise<ResponseObject> {
    const before = /^\d{1,15}$/.test(String(request.query.before)) ? Number(request.query.before) : null;
    const events = await recentEvents(accounts, request.civic.language, PAGE_SIZE + 1, before);
    const next = events.length > PAGE_SIZE ? `${AUDIT}?before=${events[PAGE_SIZE - 1]!.seq}` : null;
    return shown(h, 'console-audit', t('console.audit'), { events: events.slice(0, PAGE_SIZE), next, isWide: true }, 200, AUDIT);
  }

  async function personOf({ request }: Admin): Promise<PersonRow> {
    const id = String(request.params.id);
    const person = isId(id) ? await personById(civic.db.read, id) : null;
    if (!person) throw problem('not_found', { detail: 'There is no account of that id.' });
    return person;
  }

  /** Nobody locks themselves out; another administrator, or the command line, can. */
  function refuseSelf({ visit }: Admin, person: PersonRow): void {
    if (person.id === visit.person.id) throw problem('permission_required', { detail: 'This is your own account: another administrator, or bin/civic account, can do that.' });
  }

  const changing = (done: (admin: Admin) => string, change: (tx: Tx, admin: Admin, person: PersonRow) => Promise<void>) => administering(async (admin) => {
    const person = await personOf(admin);
    await write(admin, (tx) => change(tx, admin, person));
    return go(admin.h, `${HOME}/${person.id}?done=${done(admin)}`);
  });
  const by = ({ visit, request }: Admin) => doerOf(request, visit.person.id);

  return [
    { method: 'GET', path: '/console', options: PAGE, handler: homeOf },
    { method: 'GET', path: AUDIT, options: PAGE, handler: reading((admin) => auditPage(admin)) },
    { method: 'GET', path: HOME, options: PAGE, handler: reading((admin) => listPage(admin)) },
    {
      method: 'POST', path: HOME, options: formOptions(),
      handler: administering(async (admin) => {
        const { values, errors, given } = readForm(admin.request, newForm, admin.t);
        if (!values) return listPage(admin, { errors, given }, 400);
        const made = await write(admin, async (tx) => {
          if (values.email !== null && await personByEmail(tx, foldEmail(values.email))) return null;
          const person = await people.create(tx, values, by(admin));
          return { person, link: await createAccountLink({ civic, record }, tx, person, by(admin)) };
        });
        if (!made) return listPage(admin, { errors: { email: admin.t('console.taken') }, given }, 400);
        return onePage(admin, made.person, { link: made.link, minutes: civic.config.link_minutes });
      }),
    },
    { method: 'GET', path: `${HOME}/{id}`, options: PAGE, handler: reading(async (admin) => onePage(admin, await personOf(admin))) },
    {
      method: 'POST', path: `${HOME}/{id}/plan`, options: formOptions(),
      handler: administering(async (admin) => {
        const person = await personOf(admin);
        const { values, errors } = readForm(admin.request, planForm, admin.t);
        if (!values) return onePage(admin, person, { errors }, 400);
        await write(admin, (tx) => people.setPlan(tx, person, values.plan, values.until ?? undefined, by(admin)));
        return go(admin.h, `${HOME}/${person.id}?done=plan`);
      }),
    },
    {
      method: 'POST', path: `${HOME}/{id}/role`, options: formOptions(),
      handler: changing(() => 'role', async (tx, admin, person) => {
        refuseSelf(admin, person);
        const { values } = readForm(admin.request, roleForm);
        if (!values) throw problem('invalid_request', { detail: `The role is one of ${INSTANCE_ROLES.join(', ')}.` });
        await people.setRole(tx, person, values.role, by(admin));
      }),
    },
    {
      method: 'POST', path: `${HOME}/{id}/confirm-email`, options: formOptions(),
      handler: administering(async (admin) => {
        const person = await personOf(admin);
        const pending = await emails.pendingOf(person);
        if (!pending) throw problem('unknown_email_change');
        await write(admin, (tx) => emails.confirm(tx, person, pending, by(admin)));
        return go(admin.h, `${HOME}/${person.id}?done=email`);
      }),
    },
    {
      method: 'POST', path: `${HOME}/{id}/{what}`, options: { ...formOptions(), validate: { params: Joi.object({ id: Joi.string(), what: Joi.string().valid('disable', 'enable') }) } },
      handler: changing(({ request }) => `${request.params.what}d`, async (tx, admin, person) => {
        refuseSelf(admin, person);
        await people.setDisabled(tx, person, admin.request.params.what === 'disable', by(admin));
      }),
    },
    {
      method: 'POST', path: `${HOME}/{id}/sign-in-link`, options: formOptions(),
      handler: administering(async (admin) => {
        const person = await personOf(admin);
        if (person.disabled_at !== null) throw problem('permission_required', { detail: 'The account is disabled: enable it first.' });
        const link = await write(admin, (tx) => createAccountLink({ civic, record }, tx, person, by(admin)));
        return onePage(admin, person, { link, minutes: civic.config.link_minutes });
      }),
    },
  ];
}

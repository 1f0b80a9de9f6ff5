import type { ResponseObject, ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, pagePath, problem, readForm, type Texts } from 'civic';
import type { Workspaces } from '../context.ts';
import { PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { issueGroups } from '../pages/issues.ts';
import { partOf } from '../pages/paging.ts';
import { entityReferences } from '../references.ts';
import { feedPath } from './feed.ts';
import { isTimeZone } from './schedule.ts';
import { DELIVERIES, type Watch, type WatchTarget } from './types.ts';
import type { Watches } from './watches.ts';
import { targetName, targetWords } from './words.ts';

interface NewForm {
  entry?: string;
  place?: string;
  issue?: string;
  delivery: string;
}

const text = Joi.string().trim().max(200).empty('');
const newForm = Joi.object<NewForm>({ entry: text, place: text, issue: text, delivery: Joi.string().valid(...DELIVERIES).default('digest') });
const deliveryForm = Joi.object<{ delivery: string }>({ delivery: Joi.string().valid(...DELIVERIES).required() });
const settingsForm = Joi.object<{ mail?: string; language: 'en' | 'es'; time_zone: string; digest_hour: number }>({
  mail: Joi.string().valid('yes'),
  language: Joi.string().valid('en', 'es').required(),
  time_zone: Joi.string().trim().max(60).required().custom((zone: string, { error }) => (isTimeZone(zone) ? zone : error('watches.zone'))).messages({ 'watches.zone': 'watches.no_zone' }),
  digest_hour: Joi.number().integer().min(0).max(23).required(),
});
const DONE = ['added', 'changed', 'removed', 'saved', 'revoked'];
const SHOWN = 50;

/** Returns the page of the watches of a workspace, and the forms on it. */
export function watchPages(workspaces: Workspaces, pages: WorkspacePages, watches: Watches): ServerRoute[] {
  const { civic, accounts, directory } = workspaces;

  async function show(page: PageContext, more: Record<string, unknown> = {}, status = 200): Promise<ResponseObject> {
    const { request, t } = page;
    const { last: before, cursorOf } = partOf(request, SHOWN);
    const { shown, total, next } = await watches.page(civic.db.read, page, {}, { before, limit: SHOWN });
    const subscriber = await watches.subscribers.of(civic.db.read, page);
    const asked = String((more['given'] as Record<string, unknown> | undefined)?.['entry'] ?? request.query['entry'] ?? '').toLowerCase();
    const entity = isId(asked) ? (await entityReferences(workspaces, civic.db.read, page, [asked]))(asked) : null;
    const done = String(request.query['done'] ?? '');
    const issues = await issueGroups(directory, t, [(more['given'] as Record<string, unknown> | undefined)?.['issue']]);
    return pages.show(page, { section: 'watches', template: 'workspaces/watches', title: t('watches.title'), status }, {
      watches: shown.map((watch) => ({ ...watch, ...shownTarget(watch.target, t), deliveries: deliveries(watch.delivery) })),
      entry: entity?.state === 'current' ? { id: asked, name: entity.name } : null, total, next: cursorOf(next),
      notice: DONE.includes(done) ? t(`watches.done_${done}`) : null,
      issues, deliveries: deliveries('digest'),
      settings: { has_mail: subscriber ? Boolean(subscriber.has_mail) : true, time_zone: subscriber?.time_zone ?? 'UTC', isSpanish: (subscriber?.language ?? request.civic.language) === 'es', hours: hours(subscriber?.digest_hour ?? civic.config.digest_hour) },
      hasMail: accounts.mail.isConfigured, email: page.visitor.account.email, feedSince: subscriber?.feed_created_at ?? null, given: {}, ...more,
    });
  }

  function shownTarget(target: Watch['target'], t: Texts): object {
    const { type, name } = target;
    const { actor, place } = directory.links.pages;
    const href = name === null ? null : (type === 'entity' ? actor?.(target.id) : type === 'place' ? place?.(target.id) : null) ?? null;
    return { words: targetWords(target, t), heading: targetName(target, t) ?? t('watches.gone'), kind: t(`watches.kinds.${type}`), href };
  }

  /** Returns the target of the form; null when the text of the place names none for certain. */
  async function targetIn({ entry, place, issue }: NewForm): Promise<WatchTarget | null> {
    if (entry !== undefined) return { type: 'entity', id: entry };
    const found = place === undefined ? null : (await directory.resolvePlace(civic.db.read, place)).place;
    if (place !== undefined && !found) return null;
    if (found && issue !== undefined) return { type: 'query', query: { places: [found.place_key], issues: [issue], signal_types: [], actor_types: [], source_classes: [] } };
    return found ? { type: 'place', id: found.place_key } : { type: 'issue_area', id: issue ?? '' };
  }

  const back = ({ request, h, workspace }: PageContext, done: string) => h.redirect(pagePath(request, `/workspaces/${workspace.id}/watches?done=${done}`)).code(303);
  const path = '/workspaces/{id}/watches';

  return [
    { method: 'GET', path, options: PAGE, handler: pages.member((page) => show(page)) },
    {
      method: 'GET', path: '/workspaces/watch', options: PAGE,
      handler: pages.chosen((entry) => `watches?entry=${entry}`),
    },
    {
      method: 'POST', path, options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm<NewForm>(page.request, newForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        if (Object.keys(values).length === 1) return show(page, { errors: { place: page.t('watches.name_one') }, given }, 400);
        const target = await targetIn(values);
        if (!target) return show(page, { errors: { place: page.t('watches.no_place') }, given }, 400);
        const { isNew } = await pages.change(page, async (tx, context) => {
          await watches.subscribers.ensure(tx, context, { language: page.request.civic.language });
          return watches.ensure(tx, context, { target, delivery: values.delivery });
        });
        return isNew ? back(page, 'added') : show(page, { errors: { [target.type === 'entity' ? 'entry' : 'place']: page.t('watches.exists') }, given }, 409);
      }),
    },
    {
      method: 'POST', path: `${path}/{watch_id}/delivery`, options: formOptions(),
      handler: pages.member(async (page) => {
        const { values } = readForm<{ delivery: string }>(page.request, deliveryForm);
        if (!values) throw problem('invalid_request', { detail: `The delivery is one of ${DELIVERIES.join(', ')}.` });
        await pages.change(page, async (tx, context) => watches.update(tx, context, await watches.rowToChange(tx, context, String(page.request.params.watch_id)), values));
        return back(page, 'changed');
      }),
    },
    {
      method: 'POST', path: `${path}/{watch_id}/delete`, options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => watches.remove(tx, context, await watches.rowToChange(tx, context, String(page.request.params.watch_id))));
        return back(page, 'removed');
      }),
    },
    {
      method: 'POST', path: `${path}/settings`, options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, settingsForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        const { mail, ...settings } = values;
        await pages.change(page, (tx, context) => watches.subscribers.change(tx, context, { ...settings, has_mail: mail === 'yes' }));
        return back(page, 'saved');
      }),
    },
    {
      method: 'POST', path: `${path}/feed`, options: formOptions(),
      handler: pages.member(async (page) => {
        const secret = await pages.change(page, (tx, context) => watches.subscribers.createFeed(tx, context));
        return show(page, { feed: civic.url(`${feedPath(page.workspace.id)}?token=${secret}`) });
      }),
    },
    {
      method: 'POST', path: `${path}/feed/revoke`, options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, (tx, context) => watches.subscribers.revokeFeed(tx, context));
        return back(page, 'revoked');
      }),
    },
  ];
}

function deliveries(chosen: string): { delivery: string; isChosen: boolean }[] {
  return DELIVERIES.map((delivery) => ({ delivery, isChosen: delivery === chosen }));
}

function hours(chosen: number): { hour: number; isChosen: boolean }[] {
  return Array.from({ length: 24 }, (_, hour) => ({ hour, isChosen: hour === chosen }));
}

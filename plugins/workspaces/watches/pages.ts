import type { ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem, readForm } from 'civic';
import type { Workspaces } from '../context.ts';
import { PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { feedPath } from './feed.ts';
import { deliveryForm, newForm, settingsForm, targetIn } from './form.ts';
import { createWatchList, type ShowWatches } from './list-page.ts';
import { DELIVERIES } from './types.ts';
import type { Watches } from './watches.ts';

const PATH = '/workspaces/{id}/watches';

/** Returns the page of the watches of a workspace, and the forms on it. */
export function watchPages(workspaces: Workspaces, pages: WorkspacePages, watches: Watches): ServerRoute[] {
  const show = createWatchList(workspaces, pages, watches);
  return [
    { method: 'GET', path: PATH, options: PAGE, handler: pages.member((page) => show(page)) },
    { method: 'GET', path: '/workspaces/watch', options: PAGE, handler: pages.chosen((entry) => `watches?entry=${entry}`) },
    newWatchForm(workspaces, pages, watches, show),
    ...formsOfWatches(pages, watches),
    ...formsOfSubscriber(workspaces, pages, watches, show),
  ];
}

const back = ({ request, h, workspace }: PageContext, done: string) => h.redirect(pagePath(request, `/workspaces/${workspace.id}/watches?done=${done}`)).code(303);

function newWatchForm(workspaces: Workspaces, pages: WorkspacePages, watches: Watches, show: ShowWatches): ServerRoute {
  return {
    method: 'POST', path: PATH, options: formOptions(),
    handler: pages.member(async (page) => {
      const { values, errors, given } = readForm(page.request, newForm, page.t);
      if (!values) return show(page, { errors, given }, 400);
      if (Object.keys(values).length === 1) return show(page, { errors: { place: page.t('watches.name_one') }, given }, 400);
      const target = await targetIn(workspaces, values);
      if (!target) return show(page, { errors: { place: page.t('watches.no_place') }, given }, 400);
      const { isNew } = await pages.change(page, async (tx, context) => {
        await watches.subscribers.ensure(tx, context, { language: page.request.civic.language });
        return watches.ensure(tx, context, { target, delivery: values.delivery });
      });
      return isNew ? back(page, 'added') : show(page, { errors: { [target.type === 'entity' ? 'entry' : 'place']: page.t('watches.exists') }, given }, 409);
    }),
  };
}

/** Returns the forms beside each watch. */
function formsOfWatches(pages: WorkspacePages, watches: Watches): ServerRoute[] {
  return [
    {
      method: 'POST', path: `${PATH}/{watch_id}/delivery`, options: formOptions(),
      handler: pages.member(async (page) => {
        const { values } = readForm(page.request, deliveryForm);
        if (!values) throw problem('invalid_request', { detail: `The delivery is one of ${DELIVERIES.join(', ')}.` });
        await pages.change(page, async (tx, context) => watches.update(tx, context, await watches.rowToChange(tx, context, String(page.request.params.watch_id)), values));
        return back(page, 'changed');
      }),
    },
    {
      method: 'POST', path: `${PATH}/{watch_id}/delete`, options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => watches.remove(tx, context, await watches.rowToChange(tx, context, String(page.request.params.watch_id))));
        return back(page, 'removed');
      }),
    },
  ];
}

/** Returns the forms of what a member gets: the settings of mails, and the feed. */
function formsOfSubscriber({ civic }: Workspaces, pages: WorkspacePages, watches: Watches, show: ShowWatches): ServerRoute[] {
  return [
    {
      method: 'POST', path: `${PATH}/settings`, options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, settingsForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        const { mail, ...settings } = values;
        await pages.change(page, (tx, context) => watches.subscribers.change(tx, context, { ...settings, has_mail: mail === 'yes' }));
        return back(page, 'saved');
      }),
    },
    {
      method: 'POST', path: `${PATH}/feed`, options: formOptions(),
      handler: pages.member(async (page) => {
        const secret = await pages.change(page, (tx, context) => watches.subscribers.createFeed(tx, context));
        return show(page, { feed: civic.url(`${feedPath(page.workspace.id)}?token=${secret}`) });
      }),
    },
    {
      method: 'POST', path: `${PATH}/feed/revoke`, options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, (tx, context) => watches.subscribers.revokeFeed(tx, context));
        return back(page, 'revoked');
      }),
    },
  ];
}

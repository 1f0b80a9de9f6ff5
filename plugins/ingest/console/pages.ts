import type { ResponseObject, ServerRoute } from '@hapi/hapi';
import { formOptions, readForm } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { Ingest } from '../context.ts';
import type { ShownSource } from '../sources/shown.ts';
import type { Sources } from '../sources/sources.ts';
import { noticeOf, PAGE, type Area, type SourcePage } from './area.ts';
import { classChoices, formFault, placeIn, platformChoices, settingsIn, sourceForm } from './forms.ts';
import { quotaOf } from './quota.ts';
import { cadenceChoices, sourceOnPage } from './shown.ts';
import { createSourcePage } from './source.ts';

/** The page has all sources, so that a failing one is never on a later page. */
const AT_ONCE = 1000;
const UNSET = { cadence_seconds: null, tags: '[]' };

/** The pages of an area: all its sources, and one with its last reads. */
export function sourcePages(ingest: Ingest, sources: Sources, accounts: AccountsService, area: Area): ServerRoute[] {
  const { civic, directory } = ingest;
  const one = createSourcePage(ingest, sources, accounts);

  async function showAll(page: SourcePage, more: { errors?: object; given?: Record<string, unknown>; detail?: string } = {}, status = 200): Promise<ResponseObject> {
    const { owner: { workspace_id }, t } = page;
    const { sources: found, total } = await sources.page(civic.db.read, { workspace_id }, { before: null, limit: AT_ONCE });
    const places = await directory.places(civic.db.read, found.flatMap(({ place }) => place ?? []));
    const shown = found.toSorted((a, b) => urgency(a) - urgency(b)).map((source) => sourceOnPage(ingest, accounts.pages, page, source, places.get(source.place ?? '')?.display_name));
    return page.show({ template: 'ingest/sources', title: t('sources.title'), status }, { sources: shown, total, quota: await quotaOf(ingest, accounts, page), notice: noticeOf(page), cadences: cadenceChoices(ingest, UNSET, t, more.given?.['cadence']), classes: classChoices(more.given?.['source_class'], t), platforms: platformChoices(more.given?.['platform'], t), ...more });
  }

  return [
    { method: 'GET', path: area.path, options: PAGE, handler: area.handler((page) => showAll(page)) },
    {
      method: 'POST', path: area.path, options: formOptions(),
      handler: area.handler(async (page) => {
        const { values, errors, given } = readForm(page.request, sourceForm, page.t);
        if (!values) return showAll(page, { errors, given }, 400);
        try {
          const { source, rows } = await sources.create(page.owner, { ...settingsIn(values), url: values.url, place: await placeIn(ingest, values.place), ...(values.name && { name: values.name }), ...(values.platform && { platform: values.platform }) }, { test: true, write: page.change });
          return await one.show(page, source.id, { read: { rows }, notice: page.t('sources.added') });
        } catch (error) {
          const fault = formFault(error, page.t);
          return showAll(page, { ...fault, given }, fault.status);
        }
      }),
    },
    { method: 'GET', path: `${area.path}/{source_id}`, options: PAGE, handler: area.handler((page) => one.show(page, String(page.request.params['source_id']))) },
    { method: 'POST', path: `${area.path}/{source_id}`, options: formOptions(), handler: area.handler((page) => one.act(page, String(page.request.params['source_id']))) },
  ];
}

/** Failing sources come first, then new ones. */
function urgency({ health, state }: ShownSource): number {
  if (state === 'paused') return 3;
  return ['failing', 'new', 'healthy'].indexOf(health.status);
}

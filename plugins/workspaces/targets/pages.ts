import type { ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, readForm } from 'civic';
import type { Workspaces } from '../context.ts';
import { counted, NAME, PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { issueGroups, issueText } from '../pages/issues.ts';
import { partOf } from '../pages/paging.ts';
import { writtenText } from '../schemas.ts';
import type { Targets } from './targets.ts';

const SHOWN = 25;
const form = Joi.object<{ place: string; issue_areas: string[]; wanted: number; note: string }>({
  place: Joi.string().trim().max(200).required().messages({ 'string.empty': 'targets.no_place', 'any.required': 'targets.no_place' }),
  issue_areas: Joi.array().items(Joi.string().max(100)).single().min(1).max(100).unique().required().messages({ 'any.required': 'targets.no_issues', 'array.min': 'targets.no_issues' }),
  wanted: Joi.number().integer().min(1).max(1000).default(3),
  note: writtenText(2000).allow('').default(''),
});

/** Returns the page of the coverage targets of a workspace. */
export function targetPages({ civic, directory }: Workspaces, pages: WorkspacePages, targets: Targets): ServerRoute[] {
  pages.section({ plugin: NAME, path: 'targets', label: 'targets.title', summary: counted('targets') });

  async function show(page: PageContext, more: { given?: Record<string, unknown>; errors?: object } = {}, status = 200) {
    const { request, t } = page;
    const { last: before, cursorOf } = partOf(request, SHOWN);
    const found = await targets.page(civic.db.read, page, {}, { before, limit: SHOWN });
    const chosen = [more.given?.['issue_areas'] ?? []].flat();
    return pages.show(page, { section: 'targets', template: 'workspaces/targets', title: t('targets.title'), status }, {
      targets: found.shown.map((one) => ({
        ...one, href: directory.links.pages.place?.(one.place.place_key) ?? null, stateText: t(`targets.states.${one.state}`), isMet: one.state === 'met',
        progress: one.progress.map((each) => ({ ...each, name: issueText(directory, each.issue_area, t), wanted: one.wanted, isMet: each.state === 'met' })),
      })),
      total: found.total, next: cursorOf(found.next),
      topics: await issueGroups(directory, t, chosen), errors: more.errors, given: { wanted: 3, ...more.given },
    });
  }

  return [
    { method: 'GET', path: '/workspaces/{id}/targets', options: PAGE, handler: pages.member((page) => show(page)) },
    {
      method: 'POST', path: '/workspaces/{id}/targets', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, form, page.t);
        if (!values) return show(page, { errors, given }, 400);
        const { place, candidates } = await directory.resolvePlace(civic.db.read, values.place);
        if (!place) return show(page, { given, errors: { place: page.t('targets.unknown_place', { count: candidates.length, names: candidates.map(({ display_name }) => display_name).join('; ') }) } }, 400);
        await pages.change(page, (tx, context) => targets.create(tx, context, { place: place.place_key, issue_areas: values.issue_areas, wanted: values.wanted, note: values.note || null }));
        return pages.go(page, 'targets', 'created');
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/targets/{target}/delete', options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => targets.remove(tx, context, await targets.rowToChange(tx, context, String(page.request.params.target))));
        return pages.go(page, 'targets', 'deleted');
      }),
    },
  ];
}

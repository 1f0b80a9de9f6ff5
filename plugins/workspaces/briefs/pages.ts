import type { ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem, problemOf } from 'civic';
import type { Workspaces } from '../context.ts';
import type { Lists } from '../lists/lists.ts';
import { counted, NAME, PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { partOf } from '../pages/paging.ts';
import type { Briefs } from './briefs.ts';
import { documentOf, withSummary, type BriefDocument } from './document.ts';
import { BRIEF_FORMATS, briefFile, type BriefFormat } from './export.ts';
import { createBriefForm, homeOf } from './form-page.ts';
import { fieldsOf } from './form.ts';
import { fieldsOfList } from './from-list.ts';
import type { Brief } from './schemas.ts';

const SHOWN = 25;
const LONG_FORM = formOptions({}, { isLong: true });
const DONE = ['created', 'changed', 'deleted'];
const PATH = '/workspaces/{id}/briefs';

/** Returns the pages of briefs: the list, the form, a brief, and its printed page. */
export function briefPages(workspaces: Workspaces, pages: WorkspacePages, briefs: Briefs, lists: Lists): ServerRoute[] {
  pages.section({ plugin: NAME, path: 'briefs', label: 'briefs.section', summary: counted('briefs') });
  return [listPage(workspaces, pages, briefs), ...formPages(workspaces, pages, briefs, lists), ...documentPages(workspaces, pages, briefs)];
}

const idIn = ({ request }: PageContext): string => String(request.params.brief_id);

function noticeOf({ request, t }: PageContext): string | null {
  const done = String(request.query['done']);
  return DONE.includes(done) ? t(`briefs.done_${done}`) : null;
}

/** Pages show a brief that does not exist as every other page that does not exist. */
async function found<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemOf(error)?.code === 'unknown_brief' ? problem('not_found') : error;
  }
}

function listPage({ civic }: Workspaces, pages: WorkspacePages, briefs: Briefs): ServerRoute {
  return {
    method: 'GET', path: PATH, options: PAGE,
    handler: pages.member(async (page) => {
      const { last: before, cursorOf } = partOf(page.request, SHOWN);
      const { shown, total, next } = await civic.db.snapshot((tx) => briefs.page(tx, page, {}, { before, limit: SHOWN }));
      return pages.show(page, { section: 'briefs', template: 'workspaces/briefs', title: page.t('briefs.title') }, {
        briefs: shown.map((brief) => ({ ...brief, gapCount: brief.gaps.length })), total, next: cursorOf(next), notice: noticeOf(page),
      });
    }),
  };
}

/** Returns the pages that create, change and delete a brief. */
function formPages(workspaces: Workspaces, pages: WorkspacePages, briefs: Briefs, lists: Lists): ServerRoute[] {
  const form = createBriefForm(workspaces, pages);
  const one = (page: PageContext): Promise<Brief> => found(() => workspaces.civic.db.snapshot(async (tx) => briefs.showOne(tx, page, await briefs.row(tx, page, idIn(page)))));
  return [
    {
      method: 'GET', path: `${PATH}/new`, options: PAGE,
      handler: pages.member(async (page) => {
        const listId = page.request.query['list'];
        return form.show(page, null, listId === undefined ? { given: {} } : await fieldsOfList(workspaces.civic, lists, page, String(listId)));
      }),
    },
    { method: 'POST', path: PATH, options: LONG_FORM, handler: pages.member((page) => form.save(page, null, (tx, context, body) => briefs.create(tx, context, { run_ids: [], ...body }))) },
    {
      method: 'GET', path: `${PATH}/{brief_id}/edit`, options: PAGE,
      handler: pages.member(async (page) => {
        const brief = await one(page);
        return form.show(page, brief, { given: fieldsOf(brief) });
      }),
    },
    {
      method: 'POST', path: `${PATH}/{brief_id}/edit`, options: LONG_FORM,
      handler: pages.member(async (page) => {
        const brief = await one(page);
        return form.save(page, brief, async (tx, context, body) => briefs.update(tx, context, await briefs.rowToChange(tx, context, brief.id), body));
      }),
    },
    {
      method: 'POST', path: `${PATH}/{brief_id}/delete`, options: formOptions(),
      handler: pages.member(async (page) => {
        await found(() => pages.change(page, async (tx, context) => briefs.remove(tx, context, await briefs.rowToChange(tx, context, idIn(page)))));
        return page.h.redirect(pagePath(page.request, `${homeOf(page)}?done=deleted`)).code(303);
      }),
    },
  ];
}

/** Returns the pages that show a brief with its records, and its files. */
function documentPages(workspaces: Workspaces, pages: WorkspacePages, briefs: Briefs): ServerRoute[] {
  const read = async (page: PageContext): Promise<BriefDocument> => withSummary(await found(() => workspaces.civic.db.snapshot(async (tx) => {
    const brief = await briefs.withEvidence(tx, page, await briefs.row(tx, page, idIn(page)));
    return documentOf(workspaces, tx, page.workspace, brief, page.t);
  })));
  return [
    {
      method: 'GET', path: `${PATH}/{brief_id}`, options: PAGE,
      handler: pages.member(async (page) => {
        const shown = await read(page);
        return pages.show(page, { section: 'briefs', template: 'workspaces/brief', title: shown.brief.title }, { ...shown, formats: Object.keys(BRIEF_FORMATS), notice: noticeOf(page) });
      }),
    },
    {
      method: 'GET', path: `${PATH}/{brief_id}/print`, options: PAGE,
      handler: pages.member(async (page) => {
        const shown = await read(page);
        return pages.show(page, { section: 'briefs', template: 'workspaces/brief-print', title: shown.brief.title }, shown);
      }),
    },
    {
      method: 'GET', path: `${PATH}/{brief_id}/file.{format}`, options: PAGE,
      handler: pages.member(async (page) => {
        const format = String(page.request.params.format) as BriefFormat;
        if (!Object.hasOwn(BRIEF_FORMATS, format)) throw problem('not_found');
        const shown = await read(page);
        await pages.change(page, (tx, context) => workspaces.use(tx, context, 'exports'));
        return page.h.response(briefFile(shown, format, page.t)).type(`${BRIEF_FORMATS[format]}; charset=utf-8`)
          .header('content-disposition', `attachment; filename="brief-${shown.brief.id}.${format}"`).header('cache-control', 'private, no-store');
      }),
    },
  ];
}

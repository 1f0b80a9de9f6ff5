import type { ResponseObject, ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem, problemOf, readForm, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { issueGroups } from '../pages/issues.ts';
import { partOf } from '../pages/paging.ts';
import type { Briefs } from './briefs.ts';
import { documentOf, withSummary, type BriefDocument } from './document.ts';
import { BRIEF_FORMATS, briefFile, type BriefFormat } from './export.ts';
import { bodyOf, briefForm, fieldsOf, type BriefForm } from './form.ts';
import type { Brief } from './schemas.ts';

const SHOWN = 25;
const LONG_FORM = formOptions({}, { isLong: true });
const DONE = ['created', 'changed', 'deleted'];

/** Returns the pages of briefs: the list, the form, a brief, and its printed page. */
export function briefPages(workspaces: Workspaces, pages: WorkspacePages, briefs: Briefs): ServerRoute[] {
  const { civic, directory } = workspaces;
  pages.section({ path: 'briefs', label: 'briefs.section' });
  const idIn = ({ request }: PageContext) => String(request.params.brief_id);
  const home = ({ workspace }: PageContext) => `/workspaces/${workspace.id}/briefs`;
  const noticeOf = ({ request, t }: PageContext) => (DONE.includes(String(request.query['done'])) ? t(`briefs.done_${String(request.query['done'])}`) : null);
  const go = (page: PageContext, path: string) => page.h.redirect(pagePath(page.request, path)).code(303);

  /** Pages show a brief that does not exist as every other page that does not exist. */
  async function found<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw problemOf(error)?.code === 'unknown_brief' ? problem('not_found') : error;
    }
  }

  const document = (page: PageContext) => found(() => civic.db.snapshot(async (tx) => documentOf(workspaces, tx, page.workspace, await briefs.withEvidence(tx, page, await briefs.row(tx, page, idIn(page))), page.t)));
  const read = async (page: PageContext): Promise<BriefDocument> => withSummary(await document(page));

  async function showForm(page: PageContext, brief: Brief | null, { given, errors = {} }: { given: Partial<Record<keyof BriefForm, unknown>>; errors?: Record<string, string> }, status = 200): Promise<ResponseObject> {
    const chosen = [given.issues ?? (given as Record<string, unknown>)['issues[]'] ?? []].flat() as string[];
    const domains = await issueGroups(directory, page.t, chosen);
    const title = brief ? page.t('briefs.edit_title', { title: brief.title }) : page.t('briefs.new_title');
    return pages.show(page, { section: 'briefs', template: 'workspaces/brief-form', title, status }, { brief, given, errors, domains, action: brief ? `${home(page)}/${brief.id}/edit` : home(page) });
  }

  /** Saves the form, or shows it again with what is wrong. */
  async function save(page: PageContext, brief: Brief | null, work: (tx: Tx, context: WorkspaceContext, body: object) => Promise<Brief>): Promise<ResponseObject> {
    const { values, errors, given } = readForm<BriefForm>(page.request, briefForm, page.t);
    if (!values) return showForm(page, brief, { given, errors }, 400);
    const read = await bodyOf(workspaces, civic.db.read, values, page.t);
    if ('errors' in read) return showForm(page, brief, { given, errors: read.errors }, 400);
    try {
      const saved = await pages.change(page, (tx, context) => work(tx, context, read.body));
      return go(page, `${home(page)}/${saved.id}?done=${brief ? 'changed' : 'created'}`);
    } catch (error) {
      const code = problemOf(error)?.code;
      if (code === 'unknown_actor') return showForm(page, brief, { given, errors: { entities: page.t('briefs.no_entity', { detail: problemOf(error)!.detail ?? '' }) } }, 400);
      if (code === 'unknown_source') return showForm(page, brief, { given, errors: { sources: page.t('briefs.no_source', { detail: problemOf(error)!.detail ?? '' }) } }, 400);
      throw error;
    }
  }

  const one = (page: PageContext): Promise<Brief> => found(() => civic.db.snapshot(async (tx) => briefs.showOne(tx, page, await briefs.row(tx, page, idIn(page)))));
  const path = '/workspaces/{id}/briefs';

  return [
    {
      method: 'GET', path, options: PAGE,
      handler: pages.member(async (page) => {
        const { last: before, cursorOf } = partOf(page.request, SHOWN);
        const { shown, total, next } = await civic.db.snapshot((tx) => briefs.page(tx, page, {}, { before, limit: SHOWN }));
        return pages.show(page, { section: 'briefs', template: 'workspaces/briefs', title: page.t('briefs.title') }, { briefs: shown.map((brief) => ({ ...brief, gapCount: brief.gaps.length })), total, next: cursorOf(next), notice: noticeOf(page) });
      }),
    },
    { method: 'GET', path: `${path}/new`, options: PAGE, handler: pages.member((page) => showForm(page, null, { given: {} })) },
    { method: 'POST', path, options: LONG_FORM, handler: pages.member((page) => save(page, null, (tx, context, body) => briefs.create(tx, context, { run_ids: [], ...body }))) },
    {
      method: 'GET', path: `${path}/{brief_id}`, options: PAGE,
      handler: pages.member(async (page) => {
        const shown = await read(page);
        return pages.show(page, { section: 'briefs', template: 'workspaces/brief', title: shown.brief.title }, { ...shown, formats: Object.keys(BRIEF_FORMATS), notice: noticeOf(page) });
      }),
    },
    {
      method: 'GET', path: `${path}/{brief_id}/edit`, options: PAGE,
      handler: pages.member(async (page) => {
        const brief = await one(page);
        return showForm(page, brief, { given: fieldsOf(brief) });
      }),
    },
    {
      method: 'POST', path: `${path}/{brief_id}/edit`, options: LONG_FORM,
      handler: pages.member(async (page) => {
        const brief = await one(page);
        return save(page, brief, async (tx, context, body) => briefs.update(tx, context, await briefs.rowToChange(tx, context, brief.id), body));
      }),
    },
    {
      method: 'POST', path: `${path}/{brief_id}/delete`, options: formOptions(),
      handler: pages.member(async (page) => {
        await found(() => pages.change(page, async (tx, context) => briefs.remove(tx, context, await briefs.rowToChange(tx, context, idIn(page)))));
        return go(page, `${home(page)}?done=deleted`);
      }),
    },
    {
      method: 'GET', path: `${path}/{brief_id}/print`, options: PAGE,
      handler: pages.member(async (page) => {
        const shown = await read(page);
        return pages.show(page, { section: 'briefs', template: 'workspaces/brief-print', title: shown.brief.title }, shown);
      }),
    },
    {
      method: 'GET', path: `${path}/{brief_id}/file.{format}`, options: PAGE,
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

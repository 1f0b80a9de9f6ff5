import type { Request, ResponseObject, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, problemOf, readForm } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { PAGE, type Area, type SourcePage } from '../console/area.ts';
import { quotaOf } from '../console/quota.ts';
import type { Ingest } from '../context.ts';
import type { Sources } from '../sources/sources.ts';
import { formatOfText, sourcesIn } from './files.ts';
import { importSources } from './import.ts';
import { opmlResponse } from './routes.ts';

const MOST_CHARACTERS = 500_000;
const listForm = Joi.object<{ list: string }>({ list: Joi.string().trim().max(MOST_CHARACTERS).required().messages({ 'string.empty': 'import.no_list', 'any.required': 'import.no_list' }) });

/** The pages of an area that add many sources at once, and export them. */
export function listPages(ingest: Ingest, sources: Sources, accounts: AccountsService, area: Area): ServerRoute[] {
  const form = formOptions({}, { isLong: true });

  async function show(page: SourcePage, more: object = {}, status = 200): Promise<ResponseObject> {
    return page.show({ template: 'ingest/import', title: page.t('import.title'), status }, { quota: await quotaOf(ingest, accounts, page), ...more });
  }

  return [
    { method: 'GET', path: `${area.path}/import`, options: PAGE, handler: area.handler((page) => show(page)) },
    {
      method: 'POST', path: `${area.path}/import`, options: { ...form, payload: { ...form.payload as object, allow: ['multipart/form-data', 'application/x-www-form-urlencoded'], multipart: { output: 'data' } } },
      handler: area.handler(async (page) => {
        takeFile(page.request);
        const { values, errors, given } = readForm(page.request, listForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        try {
          const report = await importSources(ingest, sources, page.owner, await sourcesIn(values.list, formatOfText(values.list)), { write: page.change });
          return await show(page, { report, refused: report.results.filter(({ outcome }) => outcome === 'rejected') });
        } catch (error) {
          const found = problemOf(error);
          if (!found) throw error;
          return show(page, { errors: { list: found.detail ?? found.title }, given }, found.status);
        }
      }),
    },
    { method: 'GET', path: `${area.path}/sources.opml`, options: PAGE, handler: area.handler(({ h, owner }) => opmlResponse(ingest, sources, h, owner)) },
  ];
}

/** Takes the text of a chosen file as what was pasted. A form without a file sends an empty one. */
function takeFile(request: Request): void {
  const fields = (request.payload ?? {}) as Record<string, unknown>;
  const { file } = fields;
  delete fields['file'];
  const text = Buffer.isBuffer(file) ? file.toString('utf8') : typeof file === 'string' ? file : '';
  if (text.trim() !== '') fields['list'] = text;
}

import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, problemOf, readForm } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { PAGE, SOURCES, operator } from '../console/pages.ts';
import type { Ingest } from '../context.ts';
import type { Sources } from '../sources/sources.ts';
import { formatOfText, sourcesIn } from './files.ts';
import { importSources } from './import.ts';
import { opmlResponse } from './routes.ts';

const IMPORT = `${SOURCES}/import`;
const MOST_CHARACTERS = 500_000;
const listForm = Joi.object<{ list: string }>({ list: Joi.string().trim().max(MOST_CHARACTERS).required().messages({ 'string.empty': 'import.no_list', 'any.required': 'import.no_list' }) });

/** The pages of the operator that add many sources at once, and export them. */
export function listPages(ingest: Ingest, sources: Sources, { pages }: Pick<AccountsService, 'pages'>): ServerRoute[] {
  const { civic } = ingest;
  const form = formOptions({}, { isLong: true });

  async function show(request: Request, h: ResponseToolkit, more: object = {}, status = 200): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    return pages.showConsole(request, h, { path: SOURCES, template: 'ingest/import', title: t('import.title'), status }, more);
  }

  return [
    { method: 'GET', path: IMPORT, options: PAGE, handler: pages.reviewer((_by, request, h) => show(request, h)) },
    {
      method: 'POST', path: IMPORT, options: { ...form, payload: { ...form.payload as object, allow: ['multipart/form-data', 'application/x-www-form-urlencoded'], multipart: { output: 'data' } } },
      handler: pages.reviewer(async ({ account }, request, h) => {
        takeFile(request);
        const { values, errors, given } = readForm(request, listForm, await civic.texts(request.civic.language));
        if (!values) return show(request, h, { errors, given }, 400);
        try {
          const report = await importSources(ingest, sources, operator(account.id), await sourcesIn(values.list, formatOfText(values.list)));
          return await show(request, h, { report, refused: report.results.filter(({ outcome }) => outcome === 'rejected') });
        } catch (error) {
          const found = problemOf(error);
          if (!found) throw error;
          return show(request, h, { errors: { list: found.detail ?? found.title }, given }, found.status);
        }
      }),
    },
    { method: 'GET', path: `${SOURCES}/sources.opml`, options: PAGE, handler: pages.reviewer((_by, _request, h) => opmlResponse(ingest, sources, h, { workspace_id: null })) },
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

import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Language } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, reading, type Workspaces } from '../context.ts';
import { PRIVATE, recordRoutes } from '../records/routes.ts';
import type { Briefs } from './briefs.ts';
import { documentOf, withSummary } from './document.ts';
import { BRIEF_FORMATS, briefFile, type BriefFormat } from './export.ts';

/** Returns the routes of briefs. */
export function briefRoutes(workspaces: Workspaces, briefs: Briefs): ServerRoute[] {
  const { civic } = workspaces;
  return [
    ...recordRoutes(workspaces, briefs, {
      list: 'The briefs of a workspace, the latest first',
      create: 'Create a brief',
      read: 'One brief, with its confidence and gaps as they are now',
      update: 'Change a brief',
      remove: 'Delete a brief',
      notes: 'The member `brief` of an export creates the brief again: its id, times, author, confidence and gaps are ignored.',
    }),
    {
      method: 'GET',
      path: '/api/workspaces/{id}/briefs/{brief_id}/export',
      options: {
        description: 'Export a brief as a file, with every source',
        notes: 'JSON can be imported: POST its member `brief` to create the brief again. CSV, Markdown and HTML are for reading and printing, and state it. Public records and those of the workspace are apart in each format. An export is counted in the usage of the workspace.',
        auth: reading,
        validate: {
          query: Joi.object({ format: Joi.string().valid(...Object.keys(BRIEF_FORMATS)).default('json'), language: Joi.string().valid('en', 'es').default('en').description('The language of headings') }),
          params: Joi.object({ id: Joi.string(), brief_id: Joi.string() }),
        },
        plugins: { civic: { problems: [...CONTEXT_PROBLEMS, 'unknown_brief'], produces: ['text/csv', 'text/markdown', 'text/html'] } },
        response: { status: { 200: true as never } },
      },
      async handler(request, h) {
        const { format, language } = request.query as { format: BriefFormat; language: Language };
        const t = await civic.texts(language);
        const document = await civic.db.write(async (tx) => {
          const context = await contextOf(workspaces, tx, request);
          const found = await briefs.withEvidence(tx, context, await briefs.row(tx, context, String(request.params.brief_id)));
          await workspaces.use(tx, context, 'exports');
          return documentOf(workspaces, tx, context.workspace, found, t);
        });
        const whole = format === 'html' ? await withSummary(document) : { ...document, summary: '' };
        return h.response(briefFile(whole, format, t)).type(`${BRIEF_FORMATS[format]}; charset=utf-8`)
          .header('content-disposition', `attachment; filename="brief-${document.brief.id}.${format}"`).header('cache-control', PRIVATE);
      },
    },
  ];
}

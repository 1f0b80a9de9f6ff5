import type { ResponseObject } from '@hapi/hapi';
import { pagePath, problemOf, readForm, type Texts, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import type { PageContext, WorkspacePages } from '../pages/frame.ts';
import { issueGroups } from '../pages/issues.ts';
import { bodyOf, briefForm, type BriefForm } from './form.ts';
import type { Brief } from './schemas.ts';

interface Sent {
  given: Partial<Record<keyof BriefForm | 'issues[]', unknown>>;
  errors?: Record<string, string>;
  notice?: string;
}

/** The form of a new brief, or of one that exists. */
export interface BriefFormPage {
  show(page: PageContext, brief: Brief | null, sent: Sent, status?: number): Promise<ResponseObject>;
  /** Saves the form with `work`, or shows it again with what is wrong. */
  save(page: PageContext, brief: Brief | null, work: (tx: Tx, context: WorkspaceContext, body: object) => Promise<Brief>): Promise<ResponseObject>;
}

export const homeOf = ({ workspace }: PageContext): string => `/workspaces/${workspace.id}/briefs`;

export function createBriefForm(workspaces: Workspaces, pages: WorkspacePages): BriefFormPage {
  const { civic, directory } = workspaces;

  const show: BriefFormPage['show'] = async (page, brief, { given, errors = {}, notice }, status = 200) => {
    const chosen = [given.issues ?? given['issues[]'] ?? []].flat() as string[];
    const title = brief ? page.t('briefs.edit_title', { title: brief.title }) : page.t('briefs.new_title');
    return pages.show(page, { section: 'briefs', template: 'workspaces/brief-form', title, status }, {
      brief, given, errors, ...(notice !== undefined && { notice }), domains: await issueGroups(directory, page.t, chosen), action: brief ? `${homeOf(page)}/${brief.id}/edit` : homeOf(page),
    });
  };

  return {
    show,
    async save(page, brief, work) {
      const { values, errors, given } = readForm<BriefForm>(page.request, briefForm, page.t);
      if (!values) return show(page, brief, { given, errors }, 400);
      const read = await bodyOf(workspaces, civic.db.read, values, page.t);
      if ('errors' in read) return show(page, brief, { given, errors: read.errors }, 400);
      try {
        const saved = await pages.change(page, (tx, context) => work(tx, context, read.body));
        return page.h.redirect(pagePath(page.request, `${homeOf(page)}/${saved.id}?done=${brief ? 'changed' : 'created'}`)).code(303);
      } catch (error) {
        const faults = faultsOf(error, page.t);
        if (faults === null) throw error;
        return show(page, brief, { given, errors: faults }, 400);
      }
    },
  };
}

/** Returns the error of the field that names an unknown record; null for other errors. */
function faultsOf(error: unknown, t: Texts): Record<string, string> | null {
  const { code, detail = '' } = problemOf(error) ?? {};
  if (code === 'unknown_actor') return { entities: t('briefs.no_entity', { detail }) };
  if (code === 'unknown_source') return { sources: t('briefs.no_source', { detail }) };
  return null;
}

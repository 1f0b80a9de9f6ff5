import type { ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, problemOf, readForm } from 'civic';
import type { WorkspaceRole, Workspaces } from '../context.ts';
import { shownEntry } from '../pages/entries.ts';
import { counted, NAME, PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { partOf } from '../pages/paging.ts';
import { entityReferences } from '../references.ts';
import { writtenText } from '../schemas.ts';
import { REVIEW_STATUSES, type Review, type Reviews } from './reviews.ts';

const SHOWN = 25;
const LEAST: WorkspaceRole = 'reviewer';
const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;
const fields = { status: Joi.string().valid(...REVIEW_STATUSES).required(), note: writtenText(2000).allow('').default('') };
const newForm = Joi.object<{ entry: string; status: string; note: string }>({ entry: Joi.string().trim().max(500).required().messages({ 'string.empty': 'reviews.no_entry', 'any.required': 'reviews.no_entry' }), ...fields });
const changeForm = Joi.object<{ status: string; note: string }>(fields);

/** Returns the page of the private reviews of a workspace. All members read it; reviewers and above write. */
export function reviewPages(workspaces: Workspaces, pages: WorkspacePages, reviews: Reviews): ServerRoute[] {
  const { civic, directory } = workspaces;
  pages.section({ plugin: NAME, path: 'reviews', label: 'reviews.title', summary: counted('reviews') });

  const statuses = ({ t }: PageContext, chosen: unknown) => REVIEW_STATUSES.map((status) => ({ status, name: t(`reviews.statuses.${status}`), isChosen: status === chosen }));
  const shownReview = (page: PageContext, review: Review) => ({
    ...review, entry: shownEntry(directory, review.target.id, review.entity), statusName: page.t(`reviews.statuses.${review.status}`), statuses: statuses(page, review.status),
  });

  async function show(page: PageContext, more: { given?: Record<string, unknown>; errors?: object; fault?: string } = {}, status = 200) {
    const { request, t, workspace } = page;
    const { last: before, cursorOf } = partOf(request, SHOWN);
    // The page of an entry links here: the page then is about this entry alone.
    const asked = String(request.query['entry'] ?? '').toLowerCase();
    const entryId = isId(asked) ? asked : undefined;
    const { found, about } = await civic.db.snapshot(async (tx) => ({
      found: await reviews.page(tx, page, { target_id: entryId }, { before, limit: SHOWN }),
      about: entryId === undefined ? null : shownEntry(directory, entryId, (await entityReferences(workspaces, tx, page, [entryId]))(entryId)),
    }));
    return pages.show(page, { section: 'reviews', template: 'workspaces/reviews', title: t('reviews.title'), status }, {
      reviews: found.shown.map((review) => shownReview(page, review)), total: found.total, next: cursorOf(found.next),
      about, canWrite: workspace.role !== 'member', canCreate: workspace.role !== 'member' && !(about && found.total > 0), statuses: statuses(page, more.given?.['status'] ?? 'to_review'), given: { entry: request.query['entry'] }, ...more,
    });
  }

  return [
    { method: 'GET', path: '/workspaces/{id}/reviews', options: PAGE, handler: pages.member((page) => show(page)) },
    {
      method: 'POST', path: '/workspaces/{id}/reviews', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, newForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        // The id, or the address of the page of the entry.
        const id = ID.exec(values.entry)?.[0] ?? values.entry;
        try {
          await pages.change(page, (tx, context) => reviews.create(tx, context, { target: { type: 'entity', id }, status: values.status, note: values.note || null }), LEAST);
        } catch (error) {
          const code = problemOf(error)?.code;
          if (code === 'unknown_actor') return show(page, { given, errors: { entry: page.t('reviews.unknown_entry') } }, 400);
          if (code === 'already_reviewed') return show(page, { given, errors: { entry: page.t('reviews.exists') } }, 409);
          throw error;
        }
        return pages.go(page, 'reviews', 'created');
      }, LEAST),
    },
    {
      method: 'POST', path: '/workspaces/{id}/reviews/{review}', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors } = readForm(page.request, changeForm, page.t);
        if (!values) return show(page, { fault: Object.values(errors)[0]! }, 400);
        await pages.change(page, async (tx, context) => reviews.update(tx, context, await reviews.rowToChange(tx, context, String(page.request.params.review)), { status: values.status, note: values.note || null }), LEAST);
        return pages.go(page, 'reviews', 'saved');
      }, LEAST),
    },
    {
      method: 'POST', path: '/workspaces/{id}/reviews/{review}/delete', options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => reviews.remove(tx, context, await reviews.rowToChange(tx, context, String(page.request.params.review))), LEAST);
        return pages.go(page, 'reviews', 'deleted');
      }, LEAST),
    },
  ];
}

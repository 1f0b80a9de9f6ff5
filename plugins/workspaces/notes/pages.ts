import type { ServerRoute } from '@hapi/hapi';
import { formOptions, isId, Joi, problemOf, readForm } from 'civic';
import type { Workspaces } from '../context.ts';
import { counted, NAME, PAGE, type PageContext, type WorkspacePages } from '../pages/frame.ts';
import { partOf } from '../pages/paging.ts';
import { writtenText } from '../schemas.ts';
import { noteTargets, TARGET_TYPES, type Note, type Notes, type NoteTarget, type TargetType } from './notes.ts';

const SHOWN = 25;
const text = writtenText(10_000).min(1).required().messages({ 'string.empty': 'notes.no_text', 'any.required': 'notes.no_text' });
const newForm = Joi.object<{ text: string; about: string; target: string }>({ text, about: Joi.string().valid('', ...TARGET_TYPES).default(''), target: Joi.string().max(200).allow('').default('') });
const changeForm = Joi.object<{ text: string }>({ text });

/** Returns the page of the notes of a workspace. `?about=entity&target={id}` shows those about one thing and writes about it. */
export function notePages(workspaces: Workspaces, pages: WorkspacePages, notes: Notes): ServerRoute[] {
  const { civic, directory } = workspaces;
  pages.section({ plugin: NAME, path: 'notes', label: 'notes.title', summary: counted('notes') });
  const { links } = directory;

  const hrefOf = ({ type, id, state, merged_into }: NoteTarget): string | null => {
    if (state !== 'current' && merged_into === null) return null;
    if (type === 'entity') return links.pages.actor?.(merged_into ?? id) ?? null;
    return (type === 'place' ? links.pages.place?.(id) : links.pages.source?.(id)) ?? null;
  };
  const shownTarget = (target: NoteTarget) => ({ ...target, href: hrefOf(target), isDeleted: target.state === 'deleted', isUnavailable: target.state === 'unavailable', isMerged: target.state === 'merged' });
  const shownNote = (note: Note) => ({ ...note, about: note.target && shownTarget(note.target) });

  async function show(page: PageContext, more: object = {}, status = 200) {
    const { request, t } = page;
    // A form that is shown again after an error is still about the same thing.
    const asked = { ...request.query, ...(request.payload as object | null) } as Record<string, unknown>;
    const about = TARGET_TYPES.find((one) => one === asked['about']);
    const target = about !== undefined && typeof asked['target'] === 'string' && (about === 'place' || isId(asked['target'])) ? asked['target'] : undefined;
    const subject = about !== undefined && target !== undefined ? (await noteTargets(workspaces, civic.db.read, page, [{ type: about, id: target }]))(about, target) : null;
    const { last: before, cursorOf } = partOf(request, SHOWN);
    const filters = { target_type: about, target_id: about && target };
    const found = await notes.page(civic.db.read, page, filters, { before, limit: SHOWN });
    return pages.show(page, { section: 'notes', template: 'workspaces/notes', title: t('notes.title'), status }, {
      notes: found.shown.map(shownNote), total: found.total, next: cursorOf(found.next), about: target && about, target, subject: subject && shownTarget(subject), ...more,
    });
  }

  return [
    { method: 'GET', path: '/workspaces/{id}/notes', options: PAGE, handler: pages.member((page) => show(page)) },
    {
      method: 'POST', path: '/workspaces/{id}/notes', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors, given } = readForm(page.request, newForm, page.t);
        if (!values) return show(page, { errors, given }, 400);
        const target = values.about === '' ? null : { type: values.about as TargetType, id: values.target };
        try {
          await pages.change(page, (tx, context) => notes.create(tx, context, { target, text: values.text }));
        } catch (error) {
          if (!problemOf(error)?.code.startsWith('unknown_')) throw error;
          return show(page, { given, fault: page.t('notes.unknown_target') }, 400);
        }
        return pages.go(page, 'notes', 'created');
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/notes/{note}', options: formOptions(),
      handler: pages.member(async (page) => {
        const { values, errors } = readForm(page.request, changeForm, page.t);
        if (!values) return show(page, { fault: errors.text }, 400);
        await pages.change(page, async (tx, context) => notes.update(tx, context, await notes.rowToChange(tx, context, String(page.request.params.note)), values));
        return pages.go(page, 'notes', 'saved');
      }),
    },
    {
      method: 'POST', path: '/workspaces/{id}/notes/{note}/delete', options: formOptions(),
      handler: pages.member(async (page) => {
        await pages.change(page, async (tx, context) => notes.remove(tx, context, await notes.rowToChange(tx, context, String(page.request.params.note))));
        return pages.go(page, 'notes', 'deleted');
      }),
    },
  ];
}

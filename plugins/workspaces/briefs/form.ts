import { Joi, type Reader, type Texts } from 'civic';
import type { Workspaces } from '../context.ts';
import { LONGEST_SUMMARY, type Brief } from './schemas.ts';

/** The fields of the form of a brief. References are lines of text, so that the form works without JavaScript. */
export interface BriefForm {
  title: string;
  summary: string;
  places: string;
  issues: string[];
  entities: string;
  sources: string;
}

const lines = Joi.string().trim().max(20_000).allow('').default('');
export const briefForm = Joi.object<BriefForm>({
  title: Joi.string().trim().min(1).max(200).required(),
  // Browsers send each line break as two characters.
  summary: Joi.string().replace(/\r\n?/g, '\n').trim().max(LONGEST_SUMMARY).allow('').default(''),
  places: lines,
  issues: Joi.array().items(Joi.string().max(200)).single().max(50).default([]),
  entities: lines,
  sources: lines,
}).rename('issues[]', 'issues');

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Returns the body that the form stands for, or the first error of each field. */
export async function bodyOf({ directory }: Workspaces, reader: Reader, form: BriefForm, t: Texts): Promise<{ body: object } | { errors: Record<string, string> }> {
  const errors: Record<string, string> = {};
  const places: string[] = [];
  for (const text of linesOf(form.places)) {
    const key = await directory.placeKey(reader, text) ?? (await directory.resolvePlace(reader, text)).place?.place_key;
    if (key === undefined) errors['places'] ??= t('briefs.no_place', { text });
    else places.push(key);
  }
  const ids: Record<'entities' | 'sources', string[]> = { entities: [], sources: [] };
  for (const field of ['entities', 'sources'] as const) for (const text of linesOf(form[field])) {
    const id = ID.exec(text)?.[0];
    if (id === undefined) errors[field] ??= t('briefs.no_id', { text });
    else ids[field].push(id.toLowerCase());
  }
  if (Object.keys(errors).length > 0) return { errors };
  const unique = (values: string[]) => [...new Set(values)];
  return { body: { title: form.title, summary_md: form.summary, scope: { places: unique(places), issue_areas: form.issues }, entity_ids: unique(ids.entities), source_ids: unique(ids.sources) } };
}

/** Returns the fields that show a brief in the form. */
export function fieldsOf({ title, summary_md, scope, entity_ids, source_ids }: Brief): BriefForm {
  return { title, summary: summary_md, places: scope.places.join('\n'), issues: scope.issue_areas, entities: entity_ids.join('\n'), sources: source_ids.join('\n') };
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map((line) => line.trim()).filter((line) => line !== '');
}

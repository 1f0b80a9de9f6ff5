import { Joi, type Reader, type Texts } from 'civic';
import type { Workspaces } from '../context.ts';
import { LONGEST_SUMMARY, MOST_ENTITIES, MOST_ISSUES, MOST_PLACES, MOST_SOURCES, type Brief } from './schemas.ts';

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
  issues: Joi.array().items(Joi.string().max(200)).single().max(MOST_ISSUES).default([]),
  entities: lines,
  sources: lines,
}).rename('issues[]', 'issues');

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const LISTS = { places: MOST_PLACES, entities: MOST_ENTITIES, sources: MOST_SOURCES };

/** Returns the body that the form stands for, or the first error of each field. */
export async function bodyOf({ directory }: Workspaces, reader: Reader, form: BriefForm, t: Texts): Promise<{ body: object } | { errors: Record<string, string> }> {
  const errors: Record<string, string> = {};
  const found: Record<keyof typeof LISTS, Set<string>> = { places: new Set(), entities: new Set(), sources: new Set() };
  const placeKey = async (text: string) => await directory.placeKey(reader, text) ?? (await directory.resolvePlace(reader, text)).place?.place_key;
  for (const [field, most] of Object.entries(LISTS) as [keyof typeof LISTS, number][]) {
    const texts = linesOf(form[field]);
    if (texts.length > most) errors[field] = t('briefs.too_many', { count: texts.length, most });
    else for (const text of texts) {
      const key = field === 'places' ? await placeKey(text) : ID.exec(text)?.[0].toLowerCase();
      if (key === undefined) {
        errors[field] = t(field === 'places' ? 'briefs.no_place' : 'briefs.no_id', { text });
        break;
      }
      found[field].add(key);
    }
  }
  if (form.issues.some((slug) => directory.issueName(slug) === null)) errors['issues'] = t('briefs.no_issue');
  if (Object.keys(errors).length > 0) return { errors };
  return { body: { title: form.title, summary_md: form.summary, scope: { places: [...found.places], issue_areas: form.issues }, entity_ids: [...found.entities], source_ids: [...found.sources] } };
}

/** Returns the fields that show a brief in the form. */
export function fieldsOf({ title, summary_md, scope, entity_ids, source_ids }: Brief): BriefForm {
  return { title, summary: summary_md, places: scope.places.join('\n'), issues: scope.issue_areas, entities: entity_ids.join('\n'), sources: source_ids.join('\n') };
}

/** Returns each line once. */
function linesOf(text: string): string[] {
  return [...new Set(text.split(/\r\n|\n|\r/).map((line) => line.trim()).filter((line) => line !== ''))];
}

import { Joi, problem, problemOf, type Texts } from 'civic';
import type { Ingest } from '../context.ts';
import { ADAPTERS } from '../adapters/adapters.ts';
import { CLASSES } from '../sources/class.ts';
import { cadence, platforms, tagPattern } from '../sources/schemas.ts';
import type { SourceChanges } from '../sources/sources.ts';

const address = Joi.string().trim().uri({ scheme: ['http', 'https'] }).max(2000).required().messages({ '*': 'sources.no_url' });
const list = Joi.string().trim().max(1000).allow('');

interface Settings {
  issues?: string;
  tags?: string;
  source_class?: (typeof CLASSES)[number] | '';
  cadence?: number | '';
}

const settings = {
  place: Joi.string().trim().max(200).allow(''), issues: list, tags: list, source_class: Joi.string().valid('', ...CLASSES), cadence: cadence.allow(''),
};

/** A new source. */
export const sourceForm = Joi.object<Settings & { url: string; place: string; name: string; platform?: string }>({ ...settings, url: address, name: Joi.string().trim().max(200).allow(''), platform: Joi.string().valid('', ...platforms) });

/** The settings of a source; `act` is the button. */
export const editForm = Joi.object<Settings & { act: string; name: string; url: string; place: string }>({
  ...settings, act: Joi.string(), url: address,
  name: Joi.string().trim().max(200).required().messages({ 'string.empty': 'sources.no_name', 'any.required': 'sources.no_name' }),
});

const MOST_WORDS = 20;

/** Returns the settings that a form has. Issues are given by name, tags as words. */
export function settingsIn({ issues, tags, source_class, cadence: seconds }: Settings): SourceChanges {
  return {
    ...(issues !== undefined && { issues: [...new Set(parts(issues, /[,;\n]/).map((name) => name.toLowerCase().replaceAll(/[\s-]+/g, '_')))] }),
    ...(tags !== undefined && { tags: tagsIn(tags) }),
    ...(source_class !== undefined && { source_class: source_class || null }), ...(seconds !== undefined && { cadence_seconds: seconds || null }),
  };
}

function tagsIn(text: string): string[] {
  const tags = [...new Set(parts(text.toLowerCase(), /[,;\s]/))];
  if (tags.length > MOST_WORDS || !tags.every((tag) => tagPattern.test(tag))) throw problem('invalid_request', { errors: [{ pointer: '/tags', detail: 'a tag has lower-case letters, digits, - and _' }] });
  return tags;
}

function parts(text: string, separator: RegExp): string[] {
  return text.split(separator).map((part) => part.trim()).filter((part) => part !== '');
}

interface Choice {
  value: string;
  label: string;
  isChosen: boolean;
}

/** Returns the classes that a form offers. */
export function classChoices(chosen: unknown, t: Texts): Choice[] {
  return [{ value: '', label: t('sources.class_usual') }, ...CLASSES.map((value) => ({ value, label: t(`classes.${value}`) }))].map((one) => ({ ...one, isChosen: one.value === (chosen ?? '') }));
}

/** Returns the platforms that the form of a new source offers. */
export function platformChoices(chosen: unknown, t: Texts): Choice[] {
  return [{ value: '', label: t('sources.platform_usual') }, ...ADAPTERS.map(({ name, label }) => ({ value: name, label }))].map((one) => ({ ...one, isChosen: one.value === (chosen ?? '') }));
}

const MOST_NEAR = 3;

/** Returns the key of the place that a person typed; null for none. Throws when the text names no place for certain. */
export async function placeIn({ civic, directory }: Ingest, text: string): Promise<string | null> {
  if (text === '') return null;
  const { place: found, candidates } = await directory.resolvePlace(civic.db.read, text);
  if (!found) throw problem('invalid_request', { errors: [{ pointer: '/place', detail: candidates.slice(0, MOST_NEAR).map(({ display_name }) => display_name).join('; ') }] });
  return found.place_key;
}

const TEXTS: Record<string, string> = { source_watched: 'sources.is_watched', too_many_sources: 'sources.no_room' };

/** Returns what a form shows of a problem with its source. `detail` is what the program reports, in English. Throws any other error. */
export function formFault(error: unknown, t: Texts): { status: number; errors: object; detail?: string } {
  const found = problemOf(error);
  if (!found || found.status >= 500) throw error;
  const { status, code, detail } = found;
  const [wrong] = found.errors ?? [];
  const field = wrong?.pointer?.slice(1);
  if (wrong && field === 'place') return { status, errors: { place: wrong.detail === '' ? t('sources.no_place') : t('sources.no_place_near', { places: wrong.detail }) } };
  if (field === 'issues') return { status, errors: { issues: t('sources.no_issue') } };
  if (field === 'tags') return { status, errors: { tags: t('sources.no_tag') } };
  return { status, errors: { url: t(TEXTS[code] ?? 'sources.not_read') }, detail };
}

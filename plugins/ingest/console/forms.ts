import { Joi, problem, problemOf, type Texts } from 'civic';
import type { Ingest } from '../context.ts';
import { cadence } from '../sources/schemas.ts';

const address = Joi.string().trim().uri({ scheme: ['http', 'https'] }).max(2000).required().messages({ '*': 'sources.no_url' });
const place = Joi.string().trim().max(200).allow('');

/** A new source. */
export const sourceForm = Joi.object<{ url: string; place: string; name: string }>({ url: address, place, name: Joi.string().trim().max(200).allow('') });

/** The settings of a source; `act` is the button. */
export const editForm = Joi.object<{ act: string; name: string; url: string; place: string; cadence: number | '' }>({
  act: Joi.string(), url: address, place, cadence: cadence.allow('').required(),
  name: Joi.string().trim().max(200).required().messages({ 'string.empty': 'sources.no_name', 'any.required': 'sources.no_name' }),
});

/** Returns the key of the place that a person typed; null for none. Throws when the text names no place for certain. */
export async function placeIn({ civic, directory }: Ingest, text: string): Promise<string | null> {
  if (text === '') return null;
  const { place: found } = await directory.resolvePlace(civic.db.read, text);
  if (!found) throw problem('unknown_place');
  return found.place_key;
}

const TEXTS: Record<string, string> = { source_watched: 'sources.is_watched', too_many_sources: 'sources.no_room' };

/** Returns what a form shows of a problem with its source. `detail` is what the program reports, in English. Throws any other error. */
export function formFault(error: unknown, t: Texts): { status: number; errors: object; detail?: string } {
  const found = problemOf(error);
  if (!found || found.status >= 500) throw error;
  const { status, code, detail } = found;
  if (code === 'unknown_place') return { status, errors: { place: t('sources.no_place') } };
  return { status, errors: { url: t(TEXTS[code] ?? 'sources.not_read') }, detail };
}

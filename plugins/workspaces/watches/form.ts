import { Joi } from 'civic';
import type { Workspaces } from '../context.ts';
import { isTimeZone } from './schedule.ts';
import { DELIVERIES, type WatchTarget } from './types.ts';

export interface NewForm {
  entry?: string;
  place?: string;
  issue?: string;
  delivery: string;
}

const text = Joi.string().trim().max(200).empty('');
export const newForm = Joi.object<NewForm>({ entry: text, place: text, issue: text, delivery: Joi.string().valid(...DELIVERIES).default('digest') });
export const deliveryForm = Joi.object<{ delivery: string }>({ delivery: Joi.string().valid(...DELIVERIES).required() });
export const settingsForm = Joi.object<{ mail?: string; language: 'en' | 'es'; time_zone: string; digest_hour: number }>({
  mail: Joi.string().valid('yes'),
  language: Joi.string().valid('en', 'es').required(),
  time_zone: Joi.string().trim().max(60).required().custom((zone: string, { error }) => (isTimeZone(zone) ? zone : error('watches.zone'))).messages({ 'watches.zone': 'watches.no_zone' }),
  digest_hour: Joi.number().integer().min(0).max(23).required(),
});

/** Returns the target of the form; null when the text of the place names none for certain. */
export async function targetIn({ civic, directory }: Workspaces, { entry, place, issue }: NewForm): Promise<WatchTarget | null> {
  if (entry !== undefined) return { type: 'entity', id: entry };
  const found = place === undefined ? null : (await directory.resolvePlace(civic.db.read, place)).place;
  if (place !== undefined && !found) return null;
  if (found && issue !== undefined) return { type: 'query', query: { places: [found.place_key], issues: [issue], signal_types: [], actor_types: [], source_classes: [] } };
  return found ? { type: 'place', id: found.place_key } : { type: 'issue_area', id: issue ?? '' };
}

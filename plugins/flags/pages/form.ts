import { Joi } from 'civic';
import { ENTITY_FLAG_TYPES, FLAG_TYPES, PLACE_FLAG_TYPES, SOURCE_FLAG_TYPES, type FlagType } from '../types.ts';

/** The fields of the form. */
export interface ReportForm {
  entry?: string;
  source?: string;
  place?: string;
  kind: FlagType;
  statement?: string;
  words: string;
  value?: string;
  address?: string;
  email?: string;
  /** Hidden from people; a report in which it is filled in is suspected spam. */
  website?: string;
}

const optional = (most: number) => Joi.string().trim().allow('').max(most).empty('');

export const reportForm = Joi.object<ReportForm>({
  entry: Joi.string().max(100).empty(''),
  source: Joi.string().max(100).empty(''),
  place: Joi.string().max(200).empty(''),
  kind: Joi.string().valid(...FLAG_TYPES).required().messages({ '*': 'report.choose_kind' }),
  statement: optional(100),
  words: Joi.string().trim().min(1).max(2000).required(),
  value: optional(500),
  address: Joi.string().trim().allow('').max(2000).empty('').uri({ scheme: ['http', 'https'] }).messages({ 'string.uri': 'report.no_address', 'string.uriCustomScheme': 'report.no_address' }),
  email: optional(254).email({ tlds: { allow: false } }).messages({ 'string.email': 'report.no_email', 'string.max': 'report.no_email' }),
  website: Joi.string().allow(''),
}).xor('entry', 'source', 'place');

/** The kinds of problems that can be reported, by target. */
export const KINDS: Record<'entry' | 'source' | 'place', readonly FlagType[]> = { entry: ENTITY_FLAG_TYPES, source: SOURCE_FLAG_TYPES, place: PLACE_FLAG_TYPES };

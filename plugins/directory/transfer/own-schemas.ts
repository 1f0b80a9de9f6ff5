import { Joi } from 'civic';
import { text, time } from '../ledger/schemas.ts';
import { EDITOR_KINDS } from '../types.ts';
import type { JudgementLine, PlaceLine } from './format.ts';

const id = Joi.string().guid().lowercase().required();
const number = () => Joi.number().strict();

/** Lines of our own formats besides actors, as strict as the API. */
export const judgementSchema = Joi.object<JudgementLine, true>({
  id,
  left_id: id,
  right_id: id,
  verdict: Joi.string().valid('same', 'different', 'unsure').required(),
  reason: Joi.string().trim().max(2000).allow(null).default(null),
  score: number().min(0).max(1).allow(null).default(null),
  by_kind: Joi.string().valid(...EDITOR_KINDS).default('import'),
  at: time.required(),
}).required();

export const placeSchema = Joi.object<PlaceLine, true>({
  place_key: text(200).pattern(/^[\p{L}\p{N}-]+(,[\p{L}\p{N}-]+)?$/u, 'a key such as harlow-ferry,tamarack').required(),
  name: text(300).required(),
  state: text(10).allow(null).default(null),
  admin1: text(200).allow(null).default(null),
  country: Joi.string().pattern(/^[A-Z]{2}$/, 'two capital letters').required(),
  kind: text(50).default('city'),
  latitude: number().min(-90).max(90).allow(null).default(null),
  longitude: number().min(-180).max(180).allow(null).default(null),
  population: number().integer().min(0).max(2 ** 31 - 1).allow(null).default(null),
  ocd_id: text(300).allow(null).default(null),
  origin: text(100).default('import'),
}).required();

/** Returns the line in its normal form, or all faults in one text, each with its pointer. */
export function validLine<Line>(schema: Joi.ObjectSchema<Line>, line: unknown, pointer: string): Line | string {
  const { value, error } = schema.validate(line, { abortEarly: false, errors: { wrap: { label: false } } });
  return error ? error.details.map(({ path, message }) => `${[pointer, ...path].join('/')}: ${message}`).join('; ') : value as Line;
}

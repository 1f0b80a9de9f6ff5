import { Joi } from 'civic';

/** Postgres stores no U+0000 and no half of a surrogate pair. */
const storable = /^[^\0\p{Surrogate}]*$/u;

export const id = Joi.string().required();
export const time = Joi.string().isoDate().required();
export const nullable = Joi.string().allow(null).required();

/** A text that a user writes. */
export const writtenText = (max: number) => Joi.string().trim().max(max).pattern(storable, 'text without U+0000');

/** The members that every record of a workspace has. */
export const recordFields = {
  id,
  created_at: time,
  updated_at: time,
  created_by: id.description('The id of the account'),
};

export const noQuery = Joi.object({});
export const paging = {
  limit: Joi.number().integer().min(1).max(100).default(25),
  cursor: Joi.string(),
};

/** Returns the schema of a page of records. */
export function listOf(item: Joi.Schema, name: string): Joi.ObjectSchema {
  return Joi.object({ data: Joi.array().items(item).required(), total: Joi.number().integer().required(), next_cursor: nullable }).meta({ name });
}

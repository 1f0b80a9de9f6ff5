import type { CustomValidator, ObjectSchema, Schema } from 'joi';

/** Error types of Joi that only a query parameter can have, with their texts. */
export const QUERY_ERRORS: Record<string, string> = {
  'query.integer': 'must be a whole number in plain digits, such as 25',
  'query.number': 'must be a number in plain digits, such as 0.5',
  'query.boolean': 'must be true or false',
};

const PATTERNS: Record<string, RegExp> = {
  'query.integer': /^(?:0|-?[1-9]\d*)$/,
  'query.number': /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/,
  'query.boolean': /^(?:true|false)$/,
};

/**
 * Returns a query schema that accepts one spelling of each value. Joi by itself takes `1e1`, `+5`, `05` and ` 5` for numbers and
 * `TRUE` for true; and an empty parameter is a mistake, not a missing one.
 */
export function strictQuery(schema: ObjectSchema): ObjectSchema {
  const keys = (schema.$_terms.keys ?? []) as { key: string; schema: Schema }[];
  return schema.keys(Object.fromEntries(keys.map(({ key, schema: value }) => [key, strictValue(value)])));
}

function strictValue(schema: Schema): Schema {
  if (schema.type === 'number') return schema.custom(spelledLike(isInteger(schema) ? 'query.integer' : 'query.number'));
  if (schema.type === 'boolean') return schema.custom(spelledLike('query.boolean'));
  return schema.type === 'string' ? schema.empty() : schema;
}

function isInteger(schema: Schema): boolean {
  const { rules = [] } = schema.describe() as { rules?: { name: string }[] };
  return rules.some(({ name }) => name === 'integer');
}

/** Checks the text that was sent. The values of a cursor have their types already. */
function spelledLike(error: string): CustomValidator {
  return (value, helpers) => (typeof helpers.original === 'string' && !PATTERNS[error]!.test(helpers.original) ? helpers.error(error) : value);
}

import type { JsonSchema } from '../contracts/schema.ts';
import type { Texts } from '../texts/texts.ts';

/** A part of the description of a type; `schema` is the named schema that it links to. */
export interface Word {
  text: string;
  schema?: string;
}

/** A member of an object, for a row of a table. */
export interface Field {
  name: string;
  words: Word[];
  isRequired: boolean;
  description?: unknown;
  initial?: string;
}

/** Returns the members of an object; none for anything else. */
export function fieldsOf(schema: JsonSchema, t: Texts): Field[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Object.entries(properties).map(([name, field]) => ({ name, words: wordsFor(field, t), isRequired: required.has(name), description: descriptionOf(field), initial: shownDefault(field) }));
}

function descriptionOf(schema: JsonSchema): unknown {
  return schema.description ?? (schema.anyOf as JsonSchema[] | undefined)?.find((one) => one.description)?.description;
}

export function shownDefault(schema: JsonSchema): string | undefined {
  return schema.default === undefined ? undefined : JSON.stringify(schema.default);
}

/** Returns a type in words: `list of Actor`, `one of a, b`, `whole number, 1 to 100`, `text or null`. */
export function wordsFor(schema: JsonSchema, t: Texts): Word[] {
  if (typeof schema.$ref === 'string') return [{ text: lastOf(schema.$ref), schema: lastOf(schema.$ref) }];
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return joined([...choices].sort((a, b) => Number(a.type === 'null') - Number(b.type === 'null')).map((choice) => wordsFor(choice, t)), t);
  if (schema.enum) return [{ text: t((schema.enum as unknown[]).length === 1 ? 'docs.type.always' : 'docs.type.one_of', { values: (schema.enum as unknown[]).map(String).join(', ') }) }];
  if (schema.type === 'array') return [{ text: `${t('docs.type.list_of')} ` }, ...(schema.items ? wordsFor(schema.items as JsonSchema, t) : [{ text: t('docs.type.anything') }])];
  if (schema.type === 'object' && schema.properties) return [{ text: `{ ${Object.keys(schema.properties).join(', ')} }` }];
  const types = [schema.type ?? 'anything'].flat() as string[];
  return [{ text: types.map((type) => named(type, schema, t)).join(` ${t('docs.type.or')} `) + range(schema, t) }];
}

function joined(choices: Word[][], t: Texts): Word[] {
  return choices.flatMap((words, index) => (index > 0 ? [{ text: ` ${t('docs.type.or')} ` }, ...words] : words));
}

/** The types of JSON Schema that have words in the catalogue. */
const TYPES = ['string', 'boolean', 'number', 'integer', 'object', 'null', 'anything'];
const FORMATS = ['date-time', 'uuid', 'uri', 'email', 'date'];

function named(type: string, { format }: JsonSchema, t: Texts): string {
  if (type === 'string' && typeof format === 'string') return FORMATS.includes(format) ? t(`docs.format.${format}`) : format;
  return TYPES.includes(type) ? t(`docs.type.${type}`) : type;
}

function range({ type, minimum, maximum, minLength, maxLength }: JsonSchema, t: Texts): string {
  const isText = type === 'string';
  const [least, most] = (isText ? [Number(minLength) > 1 ? minLength : undefined, maxLength] : [minimum, maximum]) as (number | undefined)[];
  const words = (key: string, values: Record<string, number>): string => `, ${t(`docs.range.${key}${isText ? '_characters' : ''}`, values)}`;
  if (least !== undefined && least === most) return words('exactly', { most });
  if (least !== undefined && most !== undefined) return words('between', { least, most });
  if (most !== undefined) return words('at_most', { most });
  return least !== undefined ? words('at_least', { least }) : '';
}

export function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

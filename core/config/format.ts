import Joi from 'joi';
import type { ConfigFragment, ConfigOption } from './types.ts';

const FORMATS = new Map<unknown, Joi.Schema>([
  [String, Joi.string()],
  [Number, Joi.number()],
  [Boolean, Joi.boolean()],
  ['int', Joi.number().integer()],
  ['nat', Joi.number().integer().min(0)],
  ['port', Joi.number().port()],
  ['url', Joi.string().uri({ scheme: ['http', 'https'] })],
  ['path', Joi.string().description('the path of a file or folder')],
]);

/** An option has a default; what has none is a section of further options. */
export function isOption(entry: ConfigOption | ConfigFragment): entry is ConfigOption {
  return typeof entry !== 'object' || entry === null || 'default' in entry;
}

export function isRequired(option: ConfigOption): boolean {
  return option.default === null && !option.nullable;
}

/** Every option of a fragment with its path, in the order of the fragment. */
export function optionsOf(fragment: ConfigFragment, prefix = ''): [string, ConfigOption][] {
  return Object.entries(fragment).flatMap(([name, entry]) => (isOption(entry) ? [[prefix + name, entry]] : optionsOf(entry, `${prefix}${name}.`)));
}

/** The Joi schema of an option, whatever its format was written as. */
export function schemaOf(option: ConfigOption): Joi.Schema {
  const { format } = option;
  const schema = Joi.isSchema(format) ? format : Array.isArray(format) ? Joi.valid(...format) : FORMATS.get(format);
  if (!schema) throw new Error(`${String(format)} is not a format`);
  return option.nullable ? schema.allow(null) : schema;
}

export const JOI_OPTIONS: Joi.ValidationOptions = { convert: false, abortEarly: false, errors: { label: false, wrap: { array: false } } };

function numberWords(rules: Joi.Description[]): string {
  const limit = (name: string): number | undefined => rules.find((rule) => rule.name === name)?.args?.limit;
  const isPort = rules.some((rule) => rule.name === 'port');
  const kind = isPort || rules.some((rule) => rule.name === 'integer') ? 'a whole number' : 'a number';
  const [min, max] = isPort ? [0, 65535] : [limit('min'), limit('max')];
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
  if (min !== undefined) return `${kind}, at least ${min}`;
  return max === undefined ? kind : `${kind}, at most ${max}`;
}

function textWords(rules: Joi.Description[]): string {
  const names = new Map<string, Joi.Description>(rules.map((rule) => [rule.name, rule]));
  if (names.has('pattern')) return names.get('pattern')?.args.options?.name ?? 'a text of a certain form';
  if (names.has('uri')) return 'an address such as https://example.org';
  if (names.has('email')) return 'an e-mail address';
  if (names.has('ip')) return names.get('ip')?.args?.options?.cidr ? 'an IP address or range such as 10.0.0.0/8' : 'an IP address';
  const { limit } = names.get('min')?.args ?? {};
  return limit > 1 ? `a text of at least ${limit} characters` : 'a text';
}

/** What a schema wants, in words that follow "must be". */
export function expected(schema: Joi.Description): string {
  const allowed: unknown[] = schema.allow ?? [];
  const orNull = allowed.includes(null) ? ' or null' : '';
  const { description, only } = (schema.flags ?? {}) as { description?: string; only?: boolean };
  if (description) return description;
  if (only) return `one of ${allowed.filter((value) => value !== null).join(', ')}${orNull}`;
  if (schema.type === 'boolean') return `true or false${orNull}`;
  if (schema.type === 'number') return numberWords(schema.rules ?? []) + orNull;
  if (schema.type === 'string') return textWords(schema.rules ?? []) + orNull;
  if (schema.type === 'alternatives') return schema.matches.map((match: { schema: Joi.Description }) => expected(match.schema)).join(' or ') + orNull;
  if (schema.type === 'array') return `a list${schema.items?.length === 1 ? `, each item ${expected(schema.items[0])}` : ''}${orNull}`;
  if (schema.type === 'object') return `a map${schema.keys ? ` with ${Object.keys(schema.keys).join(', ')}` : ''}${orNull}`;
  return 'a value';
}

/** The description of what lies at `path` inside a schema, when the schema says so. */
export function descriptionAt(schema: Joi.Description, path: (string | number)[]): Joi.Description | undefined {
  let here: Joi.Description | undefined = schema;
  for (const step of path) {
    here = typeof step === 'number' ? (here?.items?.length === 1 ? here.items[0] : undefined) : (here?.keys?.[step] ?? here?.patterns?.[0]?.rule);
  }
  return here;
}

/** Reads the text of an environment variable or argument as exactly what the schema wants; left as text when it is not that. */
export function fromText(schema: Joi.Description, text: string): unknown {
  const allowed: unknown[] = schema.allow ?? [];
  const named = allowed.find((value) => String(value) === text);
  if (named !== undefined) return named;
  if (schema.type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  if (schema.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (schema.type === 'array' || schema.type === 'object') {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  const matches: { schema: Joi.Description }[] = schema.matches ?? [];
  return matches.map((match) => fromText(match.schema, text)).find((value) => typeof value !== 'string') ?? text;
}

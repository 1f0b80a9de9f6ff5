import Joi, { type Schema } from 'joi';

export type JsonSchema = { [keyword: string]: unknown };

const PREFIX = '#/components/schemas/';

/** Turns Joi schemas into JSON Schema, and gathers the named ones so that a document says each of them once. */
export interface Schemas {
  /** The JSON Schema of a Joi schema; a named one (`schema.meta({ name: 'Actor' })`) becomes a reference. */
  of(schema: Schema): JsonSchema;
  /** Names the route of the schemas that follow, for the error about two schemas with one name. */
  enter(route: string): void;
  /** Returns the schema itself also when it has a name. Named schemas inside it become references. */
  inline(schema: Schema): JsonSchema;
  /** The named schemas met so far, in the order of their names. */
  components(): Record<string, JsonSchema>;
}

export function gatherSchemas(): Schemas {
  const named = new Map<string, JsonSchema>();
  const routeOf = new Map<string, string>();
  const done = new WeakMap<Schema, JsonSchema>();
  const known = new WeakSet<Schema>();
  let entered = 'an unnamed route';

  function remember(name: string, schema: Schema): void {
    if (known.has(schema)) return;
    known.add(schema);
    const json = { ...toJson(linked(schema.invalid(null))), ...jsonOf(schema) };
    const first = named.get(name);
    if (first && !areSame(first, json)) {
      throw new Error(`Two different schemas are named ${name}, one in ${routeOf.get(name)} and one in ${entered}: rename one of them with .meta({ name })`);
    }
    // A description that differs says something of the place where the schema is used, not of the schema.
    if (first && first.description !== json.description) delete first.description;
    else named.set(name, json);
    if (!first) routeOf.set(name, entered);
  }

  function linked(given: Schema): Schema {
    const schema = notBlank(given);
    const each = (item: Schema): Schema => {
      const name = nameOf(item);
      if (name === null) return linked(item);
      remember(name, item);
      return linkTo(name, item);
    };
    const changed = schema.$_modify({ each, ref: false } as never) as Schema | undefined;
    return changed?.$_mutateRebuild() ?? schema;
  }

  const inline = (schema: Schema): JsonSchema => ({ ...toJson(linked(schema)), ...jsonOf(schema) });

  function convert(schema: Schema): JsonSchema {
    const name = nameOf(schema);
    if (name === null) return inline(schema);
    remember(name, schema);
    return toJson(linkTo(name, schema));
  }

  return {
    of(schema) {
      const json = done.get(schema) ?? convert(schema);
      done.set(schema, json);
      return json;
    },
    enter(route) { entered = route; },
    inline,
    components: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Whether a value is a Joi schema; hapi also takes functions and its own validator's rules. */
export function isSchema(value: unknown): value is Schema {
  return Joi.isSchema(value) && '~standard' in value;
}

/** The members an object's schema names. Joi's own `describe` says the same, but validates what it says, which is slow. */
export function membersOf(schema: Schema | null): Map<string, Schema> {
  const keys: { key: string; schema: Schema }[] = schema?.$_terms.keys ?? [];
  return new Map(keys.map(({ key, schema: member }) => [key, member]));
}

/** The first example a schema gives of itself. */
export function exampleOf(schema: Schema): unknown {
  return (schema.$_terms.examples as unknown[] | undefined)?.[0];
}

/** The name a schema is published under: from its meta, or its id when it refers to itself. */
function nameOf(schema: Schema): string | null {
  const metas: { name?: string }[] = schema.$_terms.metas ?? [];
  return metas.findLast((meta) => meta.name)?.name ?? schema.$_getFlag('id') ?? null;
}

/** Keywords for what Joi leaves out of its JSON Schema: `schema.meta({ json: … })`, and peers of which one is required. */
function jsonOf(schema: Schema): JsonSchema {
  const metas: { json?: JsonSchema }[] = schema.$_terms.metas ?? [];
  const dependencies: { rel: string; peers: { key: string }[] }[] = schema.$_terms.dependencies ?? [];
  const rules = dependencies.filter(({ rel }) => rel === 'or' || rel === 'xor').map(({ rel, peers }) => [rel === 'or' ? 'anyOf' : 'oneOf', peers.map(({ key }) => ({ required: [key] }))]);
  return { ...Object.fromEntries(rules), ...metas.findLast(({ json }) => json)?.json };
}

/** Rules that white space breaks anyway. */
const FORMATS = ['pattern', 'email', 'uri', 'guid', 'isoDate'];

/** A string that is trimmed before it is checked must hold more than white space. */
function notBlank(schema: Schema): Schema {
  const rules = (schema as unknown as { _rules: { name: string }[] })._rules.map(({ name }) => name);
  const isFree = schema.type === 'string' && rules.includes('trim') && !FORMATS.some((name) => rules.includes(name));
  return isFree && schema.validate(' ').error ? (schema as Joi.StringSchema).pattern(/\S/) : schema;
}

/** Joi writes a link as a `$ref`, so a link stands in for a named schema wherever it is used. */
function linkTo(name: string, schema: Schema): Schema {
  let link: Schema = Joi.link(`#${name}`);
  if (schema.$_getFlag('presence') === 'required') link = link.required();
  if (schema.$_getFlag('description')) link = link.description(schema.$_getFlag('description'));
  return allowsNull(schema) ? link.allow(null) : link;
}

function allowsNull(schema: Schema): boolean {
  return Boolean((schema as unknown as { _valids?: Set<unknown> | null })._valids?.has(null));
}

function toJson(schema: Schema): JsonSchema {
  const json = (schema as unknown as { '~standard': { jsonSchema: { input(options: object): JsonSchema } } })['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return mended(json) as JsonSchema;
}

/** What Joi's output lacks: null among the values of a nullable list, and references into the document. */
function mended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mended);
  if (value === null || typeof value !== 'object') return value;
  const json: JsonSchema = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key !== '$defs') json[key] = key === 'default' ? inner : mended(inner);
  }
  if (typeof json.$ref === 'string') json.$ref = json.$ref.replace('#/$defs/', PREFIX);
  if (Array.isArray(json.enum) && Array.isArray(json.type) && json.type.includes('null')) json.enum = [...json.enum, null];
  if (typeof json.format === 'string' && json.minLength === 1) delete json.minLength;
  if (typeof json.pattern === 'string') json.pattern = portable(json.pattern);
  return json;
}

/** Rewrites escapes that only ECMAScript has: JSON Schema asks for patterns that other engines can read too. */
function portable(pattern: string): string {
  return pattern.replaceAll('\\p{Surrogate}', '\\uD800-\\uDFFF').replace(/\\0(?!\d)/g, '\\u0000');
}

function areSame({ description: _one, ...a }: JsonSchema, { description: _other, ...b }: JsonSchema): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

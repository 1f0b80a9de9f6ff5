import type { ArraySchema, ObjectSchema } from 'joi';
import { gatherSchemas, membersOf, type JsonSchema } from '../contracts/schema.ts';

const COMPONENTS = '#/components/schemas/';

/** Returns a JSON Schema with the schemas that it refers to under `$defs`: a client of a tool has no other document. */
export function selfContainedSchema(schema: ObjectSchema): JsonSchema {
  const schemas = gatherSchemas();
  const json = schemas.inline(schema);
  const $defs = schemas.components();
  const whole = { ...json, ...(Object.keys($defs).length > 0 && { $defs }) };
  return JSON.parse(JSON.stringify(whole).replaceAll(COMPONENTS, '#/$defs/')) as JsonSchema;
}

/** Returns the JSON Schema of arguments. It does not mention that one value is accepted for a list of one, which would double its size. */
export function argumentsSchema(schema: ObjectSchema): JsonSchema {
  const members = [...membersOf(schema)].map(([name, member]) => {
    return [name, member.type === 'array' ? (member as ArraySchema).single(false) : member];
  });
  return { type: 'object', ...selfContainedSchema(schema.keys(Object.fromEntries(members))) };
}

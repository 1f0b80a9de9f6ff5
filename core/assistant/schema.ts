import type { ArraySchema, ObjectSchema } from 'joi';
import { gatherSchemas, membersOf, type JsonSchema } from '../contracts/schema.ts';

const COMPONENTS = '#/components/schemas/';

/** Returns one JSON Schema with everything it refers to under `$defs`: a client of a tool has no other document. */
export function selfContained(schema: ObjectSchema): JsonSchema {
  const schemas = gatherSchemas();
  const json = schemas.inline(schema);
  const $defs = schemas.components();
  const whole = { ...json, ...(Object.keys($defs).length > 0 && { $defs }) };
  return JSON.parse(JSON.stringify(whole).replaceAll(COMPONENTS, '#/$defs/')) as JsonSchema;
}

/** The same for arguments. Lists are lists only: that one value is taken for a list of one is a courtesy, and doubles the schema. */
export function ofArguments(schema: ObjectSchema): JsonSchema {
  const members = [...membersOf(schema)].map(([name, member]) => [name, member.type === 'array' ? (member as ArraySchema).single(false) : member]);
  return { type: 'object', ...selfContained(schema.keys(Object.fromEntries(members))) };
}

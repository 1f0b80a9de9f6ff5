import type { OpenApi } from '../contracts/openapi.ts';
import type { JsonSchema } from '../contracts/schema.ts';

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  'date': '2026-01-31',
  'email': 'name@example.org',
  'uri': 'https://example.org/',
  'uuid': '0190a6e2-7b1c-7000-8000-000000000000',
};

/** Returns a small value that matches a schema: objects with their required members, lists with one item. */
export function sampleOf(schema: JsonSchema, api: OpenApi, depth = 0): unknown {
  if (depth > 6) return null;
  const inner = (one: unknown): unknown => sampleOf(one as JsonSchema, api, depth + 1);
  if (typeof schema.$ref === 'string') return inner(api.components.schemas![schema.$ref.slice('#/components/schemas/'.length)] ?? {});
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return (schema.enum as unknown[])[0];
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return inner(choices.find((choice) => choice.type !== 'null') ?? {});
  switch ([schema.type].flat()[0]) {
    case 'object': return Object.fromEntries(((schema.required as string[] | undefined) ?? []).map((name) => [name, inner((schema.properties as Record<string, unknown>)[name])]));
    case 'array': return [inner(schema.items ?? {})];
    case 'integer':
    case 'number': return schema.minimum ?? 1;
    case 'boolean': return true;
    case 'string': return FORMATS[String(schema.format)] ?? 'text';
    default: return null;
  }
}

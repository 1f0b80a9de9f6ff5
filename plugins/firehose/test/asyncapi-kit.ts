import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Returns what the official schema of AsyncAPI 3.0 finds wrong with a document; null when nothing is. */
export function asyncApiFaults(document: unknown): unknown {
  const file = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  const check = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
  check(document);
  return check.errors;
}

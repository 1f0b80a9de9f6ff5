import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

let check: ValidateFunction | null = null;

/** Returns what the official schema of AsyncAPI 3.0 finds wrong with a document; null when nothing is. */
export function asyncApiFaults(document: unknown): unknown {
  check ??= compiled();
  check(document);
  return check.errors;
}

/** Takes half a second, so it happens once. */
function compiled(): ValidateFunction {
  const file = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
}

import * as fs from 'node:fs';
import { register } from 'node:module';

// The suite imports `globSync`, which Node 20 does not have, for a command that is not used here.
const FS = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => { throw new Error('Node 20 has no globSync'); };";

const HOOK = `export async function resolve(specifier, context, next) {
  const isMissing = specifier === 'fs' && context.parentURL?.includes('/conformance/');
  return isMissing ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(FS)}`)}, shortCircuit: true } : next(specifier, context);
}`;

if (!('globSync' in fs)) register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

import type { ResolveHook } from 'node:module';

// In `dist/bundle` index.js is beside this file as well.
const civic = new URL('./index.js', import.meta.url).href;

/** A module hook of Node: resolves `civic` and `civic/…` to this installation, for importing files in any folder. */
export const resolve: ResolveHook = (specifier, context, next) => {
  const isCivic = specifier === 'civic' || specifier.startsWith('civic/');
  // `require('civic')` is passed on to Node, which fails: the package exports ES modules only.
  if (specifier === 'civic' && context.conditions.includes('import')) return { url: civic, format: 'module', shortCircuit: true };
  return next(specifier, isCivic ? { ...context, parentURL: civic } : context);
};

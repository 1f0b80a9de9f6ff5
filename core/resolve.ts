import type { ResolveHook } from 'node:module';

// Beside this file in the bundle as well.
const civic = new URL('./index.js', import.meta.url).href;

/** Node's module hook: `civic` and `civic/…` mean this installation, wherever the importing file lies. */
export const resolve: ResolveHook = (specifier, context, next) => {
  const isCivic = specifier === 'civic' || specifier.startsWith('civic/');
  // `require` is left to Node, which says that there is nothing to require.
  if (specifier === 'civic' && context.conditions.includes('import')) return { url: civic, format: 'module', shortCircuit: true };
  return next(specifier, isCivic ? { ...context, parentURL: civic } : context);
};

import type { ResolveHook } from 'node:module';

// Beside this file in the bundle as well.
const civic = new URL('./index.js', import.meta.url).href;

/** Node's module hook: `civic` and `civic/…` mean this installation, wherever the importing file lies. */
export const resolve: ResolveHook = (specifier, context, next) => {
  if (specifier === 'civic') return { url: civic, format: 'module', shortCircuit: true };
  return next(specifier, specifier.startsWith('civic/') ? { ...context, parentURL: civic } : context);
};

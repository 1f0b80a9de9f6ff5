import type { ResolveHook } from 'node:module';

const insideCivic = new URL('./index.js', import.meta.url).href;

/** Node's module hook: `civic` and `civic/…` mean this installation, wherever the importing file lies. */
export const resolve: ResolveHook = (specifier, context, next) => {
  const isCivic = specifier === 'civic' || specifier.startsWith('civic/');
  return next(specifier, isCivic ? { ...context, parentURL: insideCivic } : context);
};

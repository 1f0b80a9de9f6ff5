import * as nodeModule from 'node:module';
import { resolve } from './resolve.ts';
import { isBundle } from './root.ts';

// Not in the types of Node 20.
const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: typeof resolve }) => void };

/** Lets files outside this installation import `civic`. Node 26 warns about `register`; before 22.15 there is nothing else. */
export function registerResolve(): void {
  if (registerHooks) registerHooks({ resolve });
  else nodeModule.register(isBundle ? '../bundle/resolve.js' : './resolve.js', import.meta.url);
}

import type { RequestRoute, Server } from '@hapi/hapi';
import { problemKind } from '../problems.ts';
import { isForPrograms } from './pages.ts';

/** What is wrong with the routes as declared, a sentence each. Empty when all is well. */
export function checkRoutes(server: Server): string[] {
  return server.table().flatMap((route) => faultsOf(route).map((fault) => `${route.method.toUpperCase()} ${route.path} (${ownerOf(route)}): ${fault}`));
}

function ownerOf(route: RequestRoute): string {
  return route.realm.plugin ?? 'core';
}

function faultsOf(route: RequestRoute): string[] {
  const declared = route.settings.plugins?.civic;
  const unknown = (declared?.problems ?? []).filter((code) => !problemKind(code)).map((code) => `the problem code "${code}" is not registered`);
  if (isUnguarded(route)) return [...unknown, 'changes something for a page but takes any site\'s form: make its options with formOptions()'];
  const isApi = route.path === '/api' || route.path.startsWith('/api/');
  return isApi && !declared?.internal ? [...unknown, ...apiFaults(route)] : unknown;
}

/** A page's form travels with the reader's cookie, so another site could send it in their name. */
function isUnguarded({ method, path, settings }: RequestRoute): boolean {
  const declared = settings.plugins?.civic;
  return Boolean(declared?.internal) && !declared?.form && !isForPrograms(path) && ['post', 'put', 'patch', 'delete'].includes(method);
}

/** The published interface: every part of a request and of an answer has a schema. */
function apiFaults(route: RequestRoute): string[] {
  const { validate, response, description, plugins, auth } = route.settings;
  const statuses = Object.keys(response?.status ?? {}).map(Number);
  const hasAnswer = response?.schema || statuses.some((status) => status < 300);
  const isWritten = plugins?.civic?.raw || plugins?.civic?.stream;
  const faults = [
    !description && 'has no description',
    !validate?.query && 'has no validate.query, so unknown parameters would pass; an empty object refuses all',
    route.path.includes('{') && !validate?.params && 'has path parameters but no validate.params',
    !hasAnswer && !isWritten && 'has no response schema: list its statuses under response.status',
    statuses.some((status) => status >= 400) && 'describes errors under response.status: name their codes in plugins.civic.problems instead',
    auth && typeof auth === 'object' && auth.access && auth.mode !== 'required' && 'asks for a scope but not for a caller: set auth.mode to required',
    needsCaller(route) && 'asks for a role or plan but not for a caller: set auth.mode to required',
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

function needsCaller(route: RequestRoute): boolean {
  const { auth, plugins } = route.settings;
  const isRequired = typeof auth === 'object' && auth.mode === 'required';
  return Boolean(plugins?.civic?.role || plugins?.civic?.plan) && !isRequired;
}

import type { RequestRoute, Server } from '@hapi/hapi';
import { problemKind } from '../problems.ts';
import { CORE_RATES, type Vocabulary } from '../vocabulary.ts';
import { isForPrograms } from './state.ts';

/** What is wrong with the routes as declared, a sentence each. Empty when all is well. */
export function checkRoutes(server: Server, vocabulary: Vocabulary, plugins: string[] = []): string[] {
  return server.table().flatMap((route) => [...faultsOf(server, route), ...undeclaredNames(route, vocabulary), ...misplaced(route, vocabulary, plugins)].map((fault) => `${route.method.toUpperCase()} ${route.path} (${ownerOf(route)}): ${fault}`));
}

function ownerOf(route: RequestRoute): string {
  return route.realm.plugin ?? 'core';
}

function faultsOf(server: Server, route: RequestRoute): string[] {
  const declared = route.settings.plugins?.civic;
  const unknown = (declared?.problems ?? []).filter((code) => !problemKind(code)).map((code) => `the problem code "${code}" is not registered`);
  if (isUnguarded(server, route)) return [...unknown, 'changes something for a page but takes any site\'s form: make its options with formOptions()'];
  const isApi = route.path === '/api' || route.path.startsWith('/api/');
  return isApi && !declared?.internal ? [...unknown, ...apiFaults(route)] : unknown;
}

/** A page's form travels with the reader's cookie, so another site could send it in their name. */
function isUnguarded(server: Server, { method, path, settings }: RequestRoute): boolean {
  const declared = settings.plugins?.civic;
  return Boolean(declared?.internal) && !declared?.form && !isForPrograms(server, path) && ['post', 'put', 'patch', 'delete'].includes(method);
}

const ROLES: unknown[] = ['reviewer', 'admin'];

/** Every plugin may have routes under these. */
const SHARED_PATHS = ['/api', '/.well-known'];

/** A name that no plugin declares is misspelt, or its plugin is off: the route could never respond. */
function undeclaredNames(route: RequestRoute, { scopes, capabilities, rates }: Vocabulary): string[] {
  const { plan, rate, role } = route.settings.plugins?.civic ?? {};
  const faults = [
    role !== undefined && !ROLES.includes(role) && `asks for the role "${String(role)}", which is not reviewer or admin`,
    ...scopesOf(route).filter((scope) => !scopes.has(scope)).map((scope) => `asks for the scope "${scope}", which no plugin that runs declares`),
    plan !== undefined && !capabilities.has(plan) && `asks for the capability "${plan}", which no plugin that runs declares`,
    rate !== undefined && !(CORE_RATES as readonly string[]).includes(rate) && !rates.has(rate) && `names the rate class "${rate}", which no plugin that runs declares`,
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

function scopesOf({ settings: { auth } }: RequestRoute): string[] {
  const access = auth && typeof auth === 'object' ? [auth.access ?? []].flat() : [];
  return access.flatMap(({ scope }) => (scope && typeof scope === 'object' ? Object.values(scope).flat() : [])).filter((scope): scope is string => typeof scope === 'string');
}

/** Outside the shared paths a route lies under a path that its plugin declares, so that no two plugins meet there. */
function misplaced(route: RequestRoute, { paths }: Vocabulary, plugins: string[]): string[] {
  const top = `/${route.path.split('/')[1]}`;
  const declared = paths.get(top);
  if (!plugins.includes(ownerOf(route)) || SHARED_PATHS.includes(top) || declared?.shared || declared?.plugin === ownerOf(route)) return [];
  return [declared ? `is under ${top}, which the plugin ${declared.plugin} declares and does not share` : `is under ${top}, which its plugin does not declare: add '${top}' to its paths`];
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

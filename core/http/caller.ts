import { Boom, boomify, unauthorized } from '@hapi/boom';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Caller } from '../plugin.ts';
import { problem } from '../problems.ts';
import { isForPrograms } from './state.ts';

/** The resolvers and gates that plugins add in `register`. */
export interface Gates {
  /** Each returns the caller, returns null for credentials of another kind, or throws a 401. */
  resolvers: ((request: Request) => Promise<Caller | null> | Caller | null)[];
  /** Returns the plans that include a capability; absent when no plugin has plans. */
  plansWith?: (capability: string) => string[];
  /** Called once the caller is identified or rejected. Each throws to reject the request. */
  admit: ((caller: Caller | null, request: Request) => Promise<void> | void)[];
}

// Created once: hapi needs an error for each anonymous request, and most requests are anonymous.
const ANONYMOUS = unauthorized('No credentials');
const RANK = { user: 0, reviewer: 1, admin: 2 };

/** Adds the strategy `caller`, the default of every route: identifies the caller, calls the gates, checks role and plan. */
export function addCallerScheme(server: Server, gates: Gates): void {
  server.auth.scheme('caller', () => ({
    authenticate: (request, h) => authenticate(request, h, gates) as never,
  }));
  server.auth.strategy('caller', 'caller');
  server.auth.default({ strategy: 'caller', mode: 'try' });
}

/** Returns a promise only when a resolver or a gate returns one: most requests are anonymous and need none. */
function authenticate(request: Request, h: ResponseToolkit, gates: Gates): symbol | Promise<symbol> {
  const accept = (caller: Caller | null): symbol => {
    if (caller) return h.authenticated({ credentials: caller }) as never;
    if (request.auth.mode === 'required') throw missingCredential(gates);
    return h.unauthenticated(request.auth.mode === 'optional' ? unauthorized(null, 'Bearer') : ANONYMOUS) as never;
  };
  // In mode `try` hapi treats a wrong credential as anonymous. Here it is rejected on every route, so the lifecycle ends.
  const reject = (error: unknown): symbol => {
    request.civic.refusal = error instanceof Boom ? error : boomify(error as Error);
    return h.response().code(401).takeover() as never;
  };
  try {
    const caller = identify(request, gates);
    return caller instanceof Promise ? caller.then(accept).catch(reject) : accept(caller);
  } catch (error) {
    return reject(error);
  }
}

type MaybePromise<T> = T | Promise<T>;

function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Identifies the caller and calls the gates. A wrong credential or malformed request passes the gates as anonymous first, so that rate limits count it. */
function identify(request: Request, gates: Gates): MaybePromise<Caller | null> {
  if (request.route.settings.plugins?.civic?.ownCredentials) return after(callGates(null, request, gates), () => null);
  const rejectAfterGates = (error: unknown): MaybePromise<null> => {
    if (!(error instanceof Boom) || error.isServer) throw error;
    return after(callGates(null, request, gates), () => { throw error; });
  };
  let found: MaybePromise<Caller | null>;
  try {
    found = resolveCaller(request, gates);
  } catch (error) {
    return rejectAfterGates(error);
  }
  const passGates = (caller: Caller | null): MaybePromise<Caller | null> => after(callGates(caller, request, gates), () => {
    if (caller) checkRoleAndPlan(caller, request.route.settings.plugins?.civic, gates);
    return caller;
  });
  return found instanceof Promise ? found.then(passGates, rejectAfterGates) : passGates(found);
}

function resolveCaller(request: Request, gates: Gates, from = 0): MaybePromise<Caller | null> {
  if (from === 0) rejectMalformed(request);
  for (let i = from; i < gates.resolvers.length; i++) {
    const found = gates.resolvers[i]!(request);
    if (found instanceof Promise) return found.then((caller) => usable(caller, request) ?? resolveCaller(request, gates, i + 1));
    const caller = usable(found, request);
    if (caller) return caller;
  }
  if (hasCredential(request)) throw unknownCredential(gates);
  return null;
}

function callGates(caller: Caller | null, request: Request, gates: Gates, from = 0): MaybePromise<void> {
  if (request.app.isExample) return;
  for (let i = from; i < gates.admit.length; i++) {
    const admitted = gates.admit[i]!(caller, request);
    if (admitted instanceof Promise) return admitted.then(() => callGates(caller, request, gates, i + 1));
  }
}

/** Rejects malformed requests before a resolver is called. */
function rejectMalformed(request: Request): void {
  if (request.civic.refusal) throw request.civic.refusal;
  if (request.headers['authorization'] !== undefined && request.headers['x-api-key'] !== undefined) throw problem('two_credentials');
}

function hasCredential({ headers }: Request): boolean {
  return headers['authorization'] !== undefined || headers['x-api-key'] !== undefined;
}

function unknownCredential(gates: Gates): Boom {
  return gates.resolvers.length === 0 ? problem('no_accounts') : problem('invalid_credentials');
}

function usable(caller: Caller | null, request: Request): Caller | null {
  return caller?.via === 'session' && rejectsSessions(request) ? null : caller;
}

/** Whether a session cookie is ignored: browsers also send it with requests of other sites, so it proves nothing on the API and on upgrades. */
function rejectsSessions(request: Request): boolean {
  return isForPrograms(request.server, request.path) || request.civic.upgrade !== null;
}

/** Returns the problem of an anonymous caller where an account is needed. */
export function missingCredential(gates: Gates): Boom {
  return gates.resolvers.length === 0 ? problem('no_accounts') : problem('authentication_required');
}

/** Checks what a route, a tool or a resource needs in addition to a scope. */
export function checkRoleAndPlan(caller: Caller, needed: { role?: 'reviewer' | 'admin'; plan?: string } | undefined, gates: Gates): void {
  if (needed?.role && RANK[caller.role] < RANK[needed.role]) {
    throw problem('permission_required', { detail: `This needs the role ${needed.role}; yours is ${caller.role}.` });
  }
  if (needed?.plan && !caller.capabilities.includes(needed.plan)) {
    throw planRequired(caller.plan, needed.plan, gates.plansWith?.(needed.plan));
  }
}

function planRequired(plan: string, capability: string, plans: string[] | undefined): Boom {
  const detail = `The plan ${plan} does not include ${capability}.`;
  return plans ? problem('plan_required', { detail: `${detail} Plans that do: ${plans.join(', ') || 'none'}.`, extra: { plans } }) : problem('plan_required', { detail });
}

import { Boom, boomify, unauthorized } from '@hapi/boom';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Caller } from '../plugin.ts';
import { problem } from '../problems.ts';
import { isForPrograms } from './state.ts';

/** What plugins add while they register; read when requests come. */
export interface Gates {
  /** Ways to know the caller: a caller, null when these are not its credentials, or a thrown 401. */
  resolvers: ((request: Request) => Promise<Caller | null> | Caller | null)[];
  /** The plans that include a capability, when a plugin knows plans. */
  plansWith?: (capability: string) => string[];
  /** Whether a request may go on, once its caller is known or refused. They throw when not. */
  admit: ((caller: Caller | null, request: Request) => Promise<void> | void)[];
}

// Made once: hapi wants an error for everybody it does not know, and most callers are nobody.
const ANONYMOUS = unauthorized('No credentials');
const STANDING = { user: 0, reviewer: 1, admin: 2 };

/** The one strategy, `caller`: who asks, whether they may, and whether now. */
export function addCallerScheme(server: Server, gates: Gates): void {
  server.auth.scheme('caller', () => ({
    authenticate: (request, h) => authenticated(request, h, gates) as never,
  }));
  server.auth.strategy('caller', 'caller');
  server.auth.default({ strategy: 'caller', mode: 'try' });
}

/** Most callers are nobody, and known to be at once: a promise is made only when a resolver or a gate made one. */
function authenticated(request: Request, h: ResponseToolkit, gates: Gates): symbol | Promise<symbol> {
  const welcome = (caller: Caller | null): symbol => {
    if (caller) return h.authenticated({ credentials: caller }) as never;
    if (request.auth.mode === 'required') throw missing(gates);
    return h.unauthenticated(request.auth.mode === 'optional' ? unauthorized(null, 'Bearer') : ANONYMOUS) as never;
  };
  // In mode `try` hapi lets a wrong credential pass as nobody. Here it is refused everywhere, so the lifecycle ends.
  const refuse = (error: unknown): symbol => {
    request.civic.refusal = error instanceof Boom ? error : boomify(error as Error);
    return h.response().code(401).takeover() as never;
  };
  try {
    const caller = identified(request, gates);
    return caller instanceof Promise ? caller.then(welcome).catch(refuse) : welcome(caller);
  } catch (error) {
    return refuse(error);
  }
}

type Soon<T> = T | Promise<T>;

function after<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** A refused credential, and a malformed request, counts at the gates like nobody's request, and is refused behind them. */
function identified(request: Request, gates: Gates): Soon<Caller | null> {
  const refused = (error: unknown): Soon<null> => {
    if (!(error instanceof Boom) || error.isServer) throw error;
    return after(admitted(null, request, gates), () => { throw error; });
  };
  let known: Soon<Caller | null>;
  try {
    known = resolved(request, gates);
  } catch (error) {
    return refused(error);
  }
  const enter = (caller: Caller | null): Soon<Caller | null> => after(admitted(caller, request, gates), () => {
    if (caller) checkStanding(caller, request, gates);
    return caller;
  });
  return known instanceof Promise ? known.then(enter, refused) : enter(known);
}

function resolved(request: Request, gates: Gates, from = 0): Soon<Caller | null> {
  if (from === 0) refuseUnheard(request);
  for (let i = from; i < gates.resolvers.length; i++) {
    const found = gates.resolvers[i]!(request);
    if (found instanceof Promise) return found.then((caller) => usable(caller, request) ?? resolved(request, gates, i + 1));
    const caller = usable(found, request);
    if (caller) return caller;
  }
  if (hasCredential(request)) throw unknownCredential(gates);
  return null;
}

function admitted(caller: Caller | null, request: Request, gates: Gates, from = 0): Soon<void> {
  for (let i = from; i < gates.admit.length; i++) {
    const asked = gates.admit[i]!(caller, request);
    if (asked instanceof Promise) return asked.then(() => admitted(caller, request, gates, i + 1));
  }
}

/** What is wrong before anybody is asked who it is. */
function refuseUnheard(request: Request): void {
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
  return caller?.via === 'session' && refusesSessions(request) ? null : caller;
}

/** A page's cookie travels by itself, so it proves nothing where scripts of other sites could use it. */
function refusesSessions(request: Request): boolean {
  return isForPrograms(request.server, request.path) || request.civic.upgrade !== null;
}

function missing(gates: Gates): Boom {
  return gates.resolvers.length === 0 ? problem('no_accounts') : problem('authentication_required');
}

function checkStanding(caller: Caller, request: Request, gates: Gates): void {
  const needed = request.route.settings.plugins?.civic;
  if (needed?.role && STANDING[caller.role] < STANDING[needed.role]) {
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

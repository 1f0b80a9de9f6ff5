import { Boom, boomify, unauthorized } from '@hapi/boom';
import type { Lifecycle, Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Caller } from '../plugin.ts';
import { problem } from '../problems.ts';

/** What plugins add while they register; read when requests come. */
export interface Gates {
  /** Ways to know the caller: a caller, null when these are not its credentials, or a thrown 401. */
  resolvers: ((request: Request) => Promise<Caller | null> | Caller | null)[];
  /** Whether a request may go on, once its caller is known or refused. They throw when not. */
  admit: ((caller: Caller | null, request: Request) => Promise<void> | void)[];
}

// Made once: hapi wants an error for everybody it does not know, and most callers are nobody.
const ANONYMOUS = unauthorized('No credentials');
const STANDING = { user: 0, reviewer: 1, admin: 2 };

/** The one strategy, `caller`: who asks, whether they may, and whether now. */
export function addCallerScheme(server: Server, gates: Gates): void {
  server.auth.scheme('caller', () => ({
    async authenticate(request, h) {
      try {
        const caller = await admittedCaller(request, gates);
        if (caller) return h.authenticated({ credentials: caller });
        if (request.auth.mode === 'required') throw missing(gates);
        return h.unauthenticated(request.auth.mode === 'optional' ? unauthorized(null, 'Bearer') : ANONYMOUS);
      } catch (error) {
        return refuse(request, h, error);
      }
    },
  }));
  server.auth.strategy('caller', 'caller');
  server.auth.default({ strategy: 'caller', mode: 'try' });
}

/** In mode `try` hapi lets a wrong credential pass as nobody. Here it is refused everywhere, so the lifecycle ends. */
function refuse(request: Request, h: ResponseToolkit, error: unknown): Lifecycle.ReturnValue & any {
  request.plugins.civic.refusal = error instanceof Boom ? error : boomify(error as Error);
  return h.response().code(401).takeover();
}

async function admittedCaller(request: Request, gates: Gates): Promise<Caller | null> {
  let caller: Caller | null = null;
  let refusal: unknown = null;
  try {
    caller = await resolvedCaller(request, gates);
  } catch (error) {
    if (!(error instanceof Boom) || error.isServer) throw error;
    refusal = error;
  }
  for (const gate of gates.admit) await gate(caller, request);
  if (refusal) throw refusal;
  if (caller) checkStanding(caller, request);
  return caller;
}

async function resolvedCaller(request: Request, gates: Gates): Promise<Caller | null> {
  const { headers } = request;
  const hasToken = headers['authorization'] !== undefined;
  const hasKey = headers['x-api-key'] !== undefined;
  if (hasToken && hasKey) throw problem('two_credentials');
  for (const resolver of gates.resolvers) {
    const caller = await resolver(request);
    if (caller && !(caller.via === 'session' && refusesSessions(request))) return caller;
  }
  if (!hasToken && !hasKey) return null;
  throw gates.resolvers.length === 0 ? missing(gates) : problem('invalid_credentials', { detail: `The ${hasKey ? 'API key' : 'Authorization header'} is not one this instance knows.` });
}

/** A page's cookie travels by itself, so it proves nothing where scripts of other sites could use it. */
function refusesSessions(request: Request): boolean {
  return request.path.startsWith('/api/') || request.path === '/mcp' || request.plugins.civic.upgrade !== null;
}

function missing(gates: Gates): Boom {
  return gates.resolvers.length === 0 ? problem('no_accounts') : problem('authentication_required');
}

function checkStanding(caller: Caller, request: Request): void {
  const needed = request.route.settings.plugins?.civic;
  if (needed?.role && STANDING[caller.role] < STANDING[needed.role]) {
    throw problem('permission_required', { detail: `This needs the role ${needed.role}; yours is ${caller.role}.` });
  }
  if (needed?.plan && !caller.capabilities.includes(needed.plan)) {
    throw problem('plan_required', { detail: `The plan ${caller.plan} does not include ${needed.plan}.` });
  }
}

import { Boom, boomify, unauthorized } from '@hapi/boom';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
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
    authenticate(request, h) {
      // Nobody, where nobody can be known: told at once, since most requests are of this kind.
      if (gates.resolvers.length === 0 && gates.admit.length === 0 && request.auth.mode === 'try' && !request.civic.refusal && !hasCredential(request)) return h.unauthenticated(ANONYMOUS) as never;
      return authenticated(request, h, gates) as never;
    },
  }));
  server.auth.strategy('caller', 'caller');
  server.auth.default({ strategy: 'caller', mode: 'try' });
}

async function authenticated(request: Request, h: ResponseToolkit, gates: Gates): Promise<symbol> {
  if (request.civic.refusal) return h.response().code(400).takeover() as never;
  try {
    const caller = await identified(request, gates);
    if (caller) return h.authenticated({ credentials: caller }) as never;
    if (request.auth.mode === 'required') throw missing(gates);
    return h.unauthenticated(request.auth.mode === 'optional' ? unauthorized(null, 'Bearer') : ANONYMOUS) as never;
  } catch (error) {
    // In mode `try` hapi lets a wrong credential pass as nobody. Here it is refused everywhere, so the lifecycle ends.
    request.civic.refusal = error instanceof Boom ? error : boomify(error as Error);
    return h.response().code(401).takeover() as never;
  }
}

/** A refused credential counts at the gates like nobody's request, and is refused behind them. */
async function identified(request: Request, gates: Gates): Promise<Caller | null> {
  let caller: Caller | null = null;
  let refusal: Boom | null = contradiction(request);
  try {
    for (let i = 0; i < gates.resolvers.length && !caller && !refusal; i++) caller = usable(await gates.resolvers[i]!(request), request);
  } catch (error) {
    if (!(error instanceof Boom) || error.isServer) throw error;
    refusal = error;
  }
  if (!caller && !refusal && hasCredential(request)) refusal = unknownCredential(gates);
  for (const gate of gates.admit) await gate(caller, request);
  if (refusal) throw refusal;
  if (caller) checkStanding(caller, request);
  return caller;
}

function hasCredential({ headers }: Request): boolean {
  return headers['authorization'] !== undefined || headers['x-api-key'] !== undefined;
}

function contradiction({ headers }: Request): Boom | null {
  return headers['authorization'] !== undefined && headers['x-api-key'] !== undefined ? problem('two_credentials') : null;
}

function unknownCredential(gates: Gates): Boom {
  return gates.resolvers.length === 0 ? problem('no_accounts') : problem('invalid_credentials');
}

function usable(caller: Caller | null, request: Request): Caller | null {
  return caller?.via === 'session' && refusesSessions(request) ? null : caller;
}

/** A page's cookie travels by itself, so it proves nothing where scripts of other sites could use it. */
function refusesSessions(request: Request): boolean {
  return request.path.startsWith('/api/') || request.path === '/mcp' || request.civic.upgrade !== null;
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

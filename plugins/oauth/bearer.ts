import type { Request } from '@hapi/hapi';
import { isId, problem, type Caller, type Civic, type Reader } from 'civic';
import type { AccountsService, Delegate, FormerCaller } from 'civic/accounts';
import type { OauthIncident, RecordOauthIncident } from './incidents.ts';
import type { Resources } from './resources.ts';
import { hasEnded } from './grants.ts';
import { hashOf } from './secrets.ts';
import { grantById, markGrantsUsed, tokenByHash, type GrantRow } from './store/grants.ts';

/** A valid access token, cached until access changes. */
interface ValidToken {
  grant: GrantRow;
  scopes: string[];
  audience: string;
  /** In milliseconds. */
  expires: number;
  delegate: Delegate;
}

export interface BearerResolver {
  /** Returns the caller of a request with an access token; null for a request without one. */
  identify(request: Request): Caller | null | Promise<Caller | null>;
  /** Returns the caller of a grant that identified a request before, for connections that outlive it; null when the grant has ended. */
  callerOf(reader: Reader, former: FormerCaller): Promise<Caller | null>;
  /** Stores when grants were last used. */
  flush(): Promise<void>;
}

export interface BearerContext {
  civic: Civic;
  accounts: AccountsService;
  resources: Resources;
  recordIncident: RecordOauthIncident;
}

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i;
const USED_EVERY_MS = 60_000;
const MOST_USED = 10_000;
const GRANT_ID = /^[0-9a-f-]{36}$/;

export function createBearer({ civic, accounts, resources, recordIncident }: BearerContext): BearerResolver {
  const { clock } = civic;
  const cache = accounts.credentialCache<ValidToken>();
  const usedAt = new Map<string, number>();
  const unsaved = new Set<string>();

  async function load(hash: string): Promise<ValidToken> {
    const token = await tokenByHash(civic.db.read, hash);
    if (!token) throw problem('invalid_credentials', { detail: 'This access token is unknown: it was revoked, or has expired.' });
    const { grant, payload, expires_at } = token;
    const delegate = await accounts.delegate(civic.db.read, grant.account_id);
    if (!delegate) throw problem('invalid_credentials', { detail: 'The account of this access token is disabled.' });
    return { grant, scopes: (payload.scope ?? '').split(' ').filter(Boolean), audience: payload.aud ?? '', expires: Date.parse(expires_at), delegate };
  }

  /** Checks what depends on the request or on the time. Synchronous for accepted tokens: most requests need no promise. */
  function callerFor(token: ValidToken, request: Request): Caller | Promise<Caller> {
    const { grant, scopes, audience, expires, delegate } = token;
    if (expires <= clock.now()) throw problem('invalid_credentials', { detail: `This access token expired at ${new Date(expires).toISOString()}.` });
    if (!resources.of(request)?.audiences.includes(audience)) return rejectAudience(token, request);
    if (scopes.length === 0) throw withoutPermission(resources.neededScopes(request));
    const workspace = request.headers['x-workspace-id'] as string | undefined;
    if (workspace !== undefined && workspace.toLowerCase() !== grant.workspace_id) return rejectWorkspace(token, request, workspace);
    const caller = delegatedCaller(delegate, grant, scopes, expires);
    markUsed(grant.id);
    return caller;
  }

  async function rejectAudience({ grant, audience }: ValidToken, request: Request): Promise<never> {
    await recordIncident(request, { ...incidentOf(grant), kind: 'oauth_resource_refused', detail: { path: request.path, audience } });
    throw problem('invalid_credentials', {
      detail: `This access token is for ${audience}, not for ${request.path}. Request one for the right resource.`,
    });
  }

  /** Records the header only if it is an id: a client may have put its token into it. */
  async function rejectWorkspace({ grant }: ValidToken, request: Request, workspace: string): Promise<never> {
    await recordIncident(request, { ...incidentOf(grant), kind: 'oauth_workspace_refused', detail: { asked: isId(workspace) ? workspace : 'not an id' } });
    throw problem('workspace_forbidden', {
      detail: 'This access token is for the workspace that was chosen when the app was connected, not for the one in X-Workspace-ID.',
    });
  }

  function markUsed(id: string): void {
    if (clock.now() - (usedAt.get(id) ?? 0) < USED_EVERY_MS) return;
    if (usedAt.size >= MOST_USED) usedAt.clear();
    usedAt.set(id, clock.now());
    unsaved.add(id);
  }

  return {
    identify(request) {
      const [, token] = BEARER.exec((request.headers['authorization'] as string | undefined) ?? '') ?? [];
      if (token === undefined) return null;
      const hash = hashOf(token);
      const valid = cache.get(hash);
      if (valid) return callerFor(valid, request);
      return cache.load(hash, () => load(hash), ({ expires }) => expires > clock.now()).then((loaded) => callerFor(loaded, request));
    },
    async callerOf(reader, { account_id, credential_id, workspace_id }) {
      const grant = GRANT_ID.test(credential_id) ? await grantById(reader, credential_id) : null;
      if (!grant || grant.account_id !== account_id || grant.workspace_id !== workspace_id) return null;
      const expires = Date.parse(grant.expires_at);
      const delegate = await accounts.delegate(reader, account_id);
      if (!delegate || expires <= clock.now()) return null;
      try {
        return delegatedCaller(delegate, grant, grant.scopes, expires);
      } catch {
        // The membership has ended.
        return null;
      }
    },
    async flush() {
      if (unsaved.size === 0) return;
      const ids = [...unsaved];
      unsaved.clear();
      await civic.db.write((tx) => markGrantsUsed(tx, ids, clock.iso()));
    },
  };
}

/** Returns the problem of the token of an app that requested the identity of the user only. */
function withoutPermission(scopes: string[]): Error {
  return problem('insufficient_scope', { detail: 'This access token has no permission: the app requested the identity of the user only.', extra: { scopes } });
}

/** Throws `workspace_forbidden` when the membership has ended in which the user approved, also when there is a new one. */
function delegatedCaller(delegate: Delegate, grant: GrantRow, scopes: string[], expires: number): Caller {
  const caller = delegate.caller({ credential_id: grant.id, workspace_id: grant.workspace_id, scopes, expires });
  if (!hasEnded(grant, delegate)) return caller;
  throw problem('workspace_forbidden', { detail: 'The membership in which this app was connected has ended. Connect the app again.' });
}

function incidentOf({ id, account_id, workspace_id }: GrantRow): Pick<OauthIncident, 'account_id' | 'workspace_id' | 'subject'> {
  return { account_id, workspace_id, subject: id };
}

import type { Request } from '@hapi/hapi';
import { problem, type Caller, type Civic, type Reader } from 'civic';
import type { AccountsService, Delegate } from 'civic/accounts';
import type { RecordIncident } from './incidents.ts';
import type { Resources } from './resources.ts';
import { hashOf } from './secrets.ts';
import { grantById, markGrantsUsed, tokenByHash, type GrantRow } from './store/grants.ts';

/** An access token that was valid, until access changes. */
interface Holder {
  grant: GrantRow;
  scopes: string[];
  audience: string;
  /** In milliseconds. */
  expires: number;
  delegate: Delegate;
}

export interface BearerResolver {
  /** Returns the caller of a request with an access token; null without one. */
  identify(request: Request): Caller | null | Promise<Caller | null>;
  /** Returns the caller of a grant that identified a request before, for connections that go on; null when the grant has ended. */
  again(reader: Reader, who: { account_id: string; credential_id: string; workspace_id: string }): Promise<Caller | null>;
  /** Writes down which grants were used. */
  flush(): Promise<void>;
}

export interface BearerContext {
  civic: Civic;
  accounts: AccountsService;
  resources: Resources;
  recordIncident: RecordIncident;
}

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i;
const USED_EVERY_MS = 60_000;
const GRANT_ID = /^[0-9a-f-]{36}$/;

export function createBearer({ civic, accounts, resources, recordIncident }: BearerContext): BearerResolver {
  const { clock } = civic;
  const known = accounts.credentialCache<Holder>();
  const usedAt = new Map<string, number>();
  const used = new Set<string>();

  async function load(hash: string): Promise<Holder> {
    const token = await tokenByHash(civic.db.read, hash);
    if (!token) throw problem('invalid_credentials', { detail: 'This access token is not known here: it was revoked, or has expired.' });
    const { grant, payload, expires_at } = token;
    const delegate = await accounts.delegate(civic.db.read, grant.account_id);
    if (!delegate) throw problem('invalid_credentials', { detail: 'The account of this access token is disabled.' });
    return { grant, scopes: (payload.scope ?? '').split(' ').filter(Boolean), audience: payload.aud ?? '', expires: Date.parse(expires_at), delegate };
  }

  /** Checks everything that depends on the request or on the time. */
  function callerOf(holder: Holder, request: Request): Caller | Promise<Caller> {
    const { grant, expires } = holder;
    if (expires <= clock.now()) throw problem('invalid_credentials', { detail: `This access token expired at ${new Date(expires).toISOString()}.` });
    const incident = { account_id: grant.account_id, workspace_id: grant.workspace_id, subject: grant.id };
    if (!isFor(request, holder)) {
      return recordIncident(request, { ...incident, kind: 'oauth_resource_refused', detail: { path: request.path, audience: holder.audience } })
        .then(() => { throw problem('invalid_credentials', { detail: `This access token is for ${holder.audience}, not for ${request.path}. Request one for the right resource.` }); });
    }
    const asked = request.headers['x-workspace-id'] as string | undefined;
    if (asked !== undefined && asked.toLowerCase() !== grant.workspace_id) {
      return recordIncident(request, { ...incident, kind: 'oauth_workspace_refused', detail: { asked: asked.slice(0, 100) } })
        .then(() => { throw problem('workspace_forbidden', { detail: 'This access token is for the workspace that was chosen when the app was connected, not for the one in X-Workspace-ID.' }); });
    }
    const caller = callerFor(holder);
    markUsed(grant.id);
    return caller;
  }

  const callerFor = ({ delegate, grant, scopes, expires }: Holder): Caller => delegate.caller({ credential_id: grant.id, workspace_id: grant.workspace_id, scopes, expires });

  function isFor(request: Request, { audience }: Holder): boolean {
    return resources.of(request)?.audiences.includes(audience) ?? false;
  }

  function markUsed(id: string): void {
    if (clock.now() - (usedAt.get(id) ?? 0) < USED_EVERY_MS) return;
    if (usedAt.size >= 10_000) usedAt.clear();
    usedAt.set(id, clock.now());
    used.add(id);
  }

  return {
    identify(request) {
      const [, token] = BEARER.exec((request.headers['authorization'] as string | undefined) ?? '') ?? [];
      if (token === undefined) return null;
      const hash = hashOf(token);
      const holder = known.get(hash);
      if (holder) return callerOf(holder, request);
      return known.load(hash, () => load(hash), ({ expires }) => expires > clock.now()).then((loaded) => callerOf(loaded, request));
    },
    async again(reader, { account_id, credential_id, workspace_id }) {
      const grant = GRANT_ID.test(credential_id) ? await grantById(reader, credential_id) : null;
      if (!grant || grant.account_id !== account_id || grant.workspace_id !== workspace_id) return null;
      const expires = Date.parse(grant.expires_at);
      const delegate = await accounts.delegate(reader, account_id);
      if (!delegate || expires <= clock.now()) return null;
      try {
        return delegate.caller({ credential_id, workspace_id, scopes: grant.scopes, expires });
      } catch {
        return null;
      }
    },
    async flush() {
      if (used.size === 0) return;
      const ids = [...used];
      used.clear();
      await civic.db.write((tx) => markGrantsUsed(tx, ids, clock.iso()));
    },
  };
}

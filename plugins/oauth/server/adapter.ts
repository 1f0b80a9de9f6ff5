import type { Adapter } from 'oidc-provider';
import { latestEnd, type Civic } from 'civic';
import type { OauthConfig } from '../config.ts';
import { hashOf } from '../secrets.ts';
import { artifact, consumeArtifact, deleteArtifact, deleteConsumedTokens, putArtifact, replaceOldestTokens, type Artifact, type Grace } from '../store/artifacts.ts';
import { clientById, putClient } from '../store/clients.ts';
import { grantById } from '../store/grants.ts';
import type { TokenFamilies } from './family.ts';

type Payload = Record<string, unknown>;

export interface AdapterContext {
  civic: Civic<OauthConfig>;
  families: TokenFamilies;
  /** Ends a grant because of the request that the library handles. */
  endGrant(grantId: string): Promise<void>;
  /** Records that a used refresh token was accepted again. */
  recordRepeat(grantId: string, uses: number): Promise<void>;
  /** Rejects a code or token that another request has consumed, and ends its grant. */
  rejectReplay(model: string, grantId: string | null): Promise<never>;
  /** Rejects the last step of an authorization that another request has taken. */
  rejectResumed(): never;
  /** Rejects a request with text that Postgres cannot store. */
  rejectUnstorable(): never;
}

/**
 * How many successors a refresh token can have within the grace period, and how many unused refresh tokens a grant: enough for a client
 * that lost a response, and for a few processes that share a token.
 */
export const MOST_SUCCESSORS = 5;
/** How many consumed refresh tokens of a grant are stored. A replay of an older one is recognized by its mark. */
const MOST_CONSUMED = 20;
const DAY_MS = 86_400_000;

/** U+0000 and halves of surrogate pairs, as JSON writes them. */
const UNSTORABLE = /\\u0000|\\ud[89a-f][0-9a-f]{2}/;

/** Returns the store of a model of the library. Codes and tokens are stored as hashes: the library reads them by value only. */
export function createAdapter(model: string, context: AdapterContext): Adapter {
  if (model === 'Session') return NO_SESSIONS;
  return model === 'Client' ? clientAdapter(context) : artifactAdapter(model, context);
}

const nothing = async (): Promise<undefined> => undefined;

/** The plugin accounts has the sessions of users. A session of the library lasts one request and is not stored. */
const NO_SESSIONS: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Stores clients with a hash as secret, which `compareClientSecret` expects. Clients of metadata documents are not stored. */
function clientAdapter({ civic, rejectUnstorable }: AdapterContext): Adapter {
  return {
    ...NO_SESSIONS,
    async find(id) {
      if (UNSTORABLE.test(JSON.stringify(id))) return undefined;
      const client = await clientById(civic.db.read, id);
      return client ? { ...client.metadata, ...(client.secret_hash !== null && { client_secret: client.secret_hash }) } as never : undefined;
    },
    async upsert(id, { client_secret: secret, ...metadata }: Payload) {
      if (UNSTORABLE.test(JSON.stringify(metadata))) rejectUnstorable();
      await civic.db.write((tx) => putClient(tx, {
        id, kind: 'registered', name: (metadata['client_name'] as string | undefined) ?? null, metadata,
        secret_hash: typeof secret === 'string' ? hashOf(secret) : null, created_at: civic.clock.iso(),
      }));
    },
  };
}

function artifactAdapter(model: string, { civic, families, endGrant, recordRepeat, rejectReplay, rejectResumed, rejectUnstorable }: AdapterContext): Adapter {
  const { clock } = civic;
  const graceMs = model === 'RefreshToken' ? civic.config.refresh_grace_seconds * 1000 : 0;
  // Null without one: a comparison of times would accept a second use by a concurrent request, or on a node whose clock is behind.
  const currentGrace = (): Grace | null => (graceMs === 0 ? null : { from: iso(clock.now() - graceMs), until: iso(latestEnd(clock.now(), 0)), most: MOST_SUCCESSORS });

  function payloadOf({ payload, expires_at, consumed_at, uses }: Artifact, id: string): Payload {
    // `exp: 1` makes the library reject an artifact that has expired by the clock of the instance.
    const isExpired = expires_at !== null && Date.parse(expires_at) <= clock.now();
    const grace = currentGrace();
    const isConsumed = consumed_at !== null && (grace === null || consumed_at <= grace.from || consumed_at > grace.until || (uses ?? 1) >= grace.most);
    return { ...payload, jti: id, ...(isExpired && { exp: 1 }), ...(isConsumed && { consumed: Date.parse(consumed_at) / 1000 }) };
  }

  /** Returns a used refresh token whose row was deleted, so that the library ends its grant. */
  async function usedToken(id: string): Promise<Payload | undefined> {
    const { grantId, issued } = families.read(id) ?? { grantId: null, issued: 0 };
    if (grantId === null || issued + civic.config.refresh_days * DAY_MS <= clock.now()) return undefined;
    const grant = await grantById(civic.db.read, grantId);
    return grant ? { jti: id, kind: model, clientId: grant.client_id, accountId: grant.account_id, grantId, consumed: issued / 1000 } : undefined;
  }

  return {
    findByUid: nothing,
    findByUserCode: nothing,
    // `destroy` of the grant deletes its codes and tokens.
    revokeByGrantId: nothing,
    async find(id) {
      const found = await artifact(civic.db.read, model, hashOf(id));
      if (!found) return (model === 'RefreshToken' ? await usedToken(id) : undefined) as never;
      return found.uses === 0 ? undefined : payloadOf(found, id) as never;
    },
    async upsert(id, { jti: _id, userCode, ...payload }: Payload, expiresIn) {
      if (UNSTORABLE.test(JSON.stringify(payload))) rejectUnstorable();
      await civic.db.write((tx) => putArtifact(tx, {
        model,
        id_hash: hashOf(id),
        payload,
        grant_id: model === 'Grant' ? id : (payload['grantId'] as string | undefined) ?? null,
        user_code_hash: typeof userCode === 'string' ? hashOf(userCode) : null,
        created_at: clock.iso(),
        expires_at: expiresIn ? iso(clock.now() + expiresIn * 1000) : null,
      }));
    },
    async consume(id) {
      const { use, grantId, uses } = await civic.db.write(async (tx) => {
        const outcome = await consumeArtifact(tx, model, hashOf(id), clock.iso(), currentGrace());
        const stored = await artifact(tx, model, hashOf(id));
        // The library adds one. Without a limit each of the successors could have as many of its own.
        if (outcome === 'repeated') await replaceOldestTokens(tx, stored!.grant_id!, MOST_SUCCESSORS - 1, clock.iso());
        if (outcome !== 'refused' && model === 'RefreshToken') await deleteConsumedTokens(tx, stored!.grant_id!, MOST_CONSUMED);
        // Another request may have replaced the token just now, which is no replay.
        return { use: outcome, grantId: stored?.uses === 0 ? null : stored?.grant_id ?? null, uses: stored?.uses ?? null };
      });
      if (use === 'refused') await rejectReplay(model, grantId);
      if (use === 'repeated') await recordRepeat(grantId!, uses!);
    },
    async destroy(id) {
      if (model === 'Grant') await endGrant(id);
      else if (!await civic.db.write((tx) => deleteArtifact(tx, model, hashOf(id))) && model === 'Interaction') rejectResumed();
    },
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

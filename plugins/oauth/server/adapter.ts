import type { Adapter } from 'oidc-provider';
import type { Civic } from 'civic';
import type { OauthConfig } from '../config.ts';
import { hashOf } from '../secrets.ts';
import { artifact, consumeArtifact, deleteArtifact, putArtifact, type Artifact } from '../store/artifacts.ts';
import { clientById, putClient } from '../store/clients.ts';

type Payload = Record<string, unknown>;

export interface AdapterContext {
  civic: Civic<OauthConfig>;
  /** Ends a grant because of the request that the library handles. */
  endGrant(grantId: string): Promise<void>;
  /** Rejects a code or token that another request has consumed, and ends its grant. */
  rejectReplay(model: string, grantId: string | null): Promise<never>;
  /** Rejects a request with text that Postgres cannot store. */
  rejectUnstorable(): never;
}

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

function artifactAdapter(model: string, { civic, endGrant, rejectReplay, rejectUnstorable }: AdapterContext): Adapter {
  const { clock } = civic;
  // Several processes of one app may share a refresh token. Within the grace period each gets a successor.
  const graceMs = model === 'RefreshToken' ? civic.config.refresh_grace_seconds * 1000 : 0;
  // Null without one: a comparison of times would accept a second use by a concurrent request, or on a node whose clock is behind.
  const graceFrom = (): string | null => (graceMs === 0 ? null : new Date(clock.now() - graceMs).toISOString());

  function payloadOf({ payload, expires_at, consumed_at }: Artifact, id: string): Payload {
    // `exp: 1` makes the library reject an artifact that has expired by the clock of the instance.
    const isExpired = expires_at !== null && Date.parse(expires_at) <= clock.now();
    const from = graceFrom();
    const isConsumed = consumed_at !== null && (from === null || consumed_at <= from);
    return { ...payload, jti: id, ...(isExpired && { exp: 1 }), ...(isConsumed && { consumed: Date.parse(consumed_at) / 1000 }) };
  }

  return {
    findByUid: nothing,
    findByUserCode: nothing,
    // `destroy` of the grant deletes its codes and tokens.
    revokeByGrantId: nothing,
    async find(id) {
      const found = await artifact(civic.db.read, model, hashOf(id));
      return found ? payloadOf(found, id) as never : undefined;
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
        expires_at: expiresIn ? new Date(clock.now() + expiresIn * 1000).toISOString() : null,
      }));
    },
    async consume(id) {
      const isFirst = await civic.db.write((tx) => consumeArtifact(tx, model, hashOf(id), clock.iso(), graceFrom()));
      if (!isFirst) await rejectReplay(model, (await artifact(civic.db.read, model, hashOf(id)))?.grant_id ?? null);
    },
    async destroy(id) {
      if (model === 'Grant') await endGrant(id);
      else await civic.db.write((tx) => deleteArtifact(tx, model, hashOf(id)));
    },
  };
}

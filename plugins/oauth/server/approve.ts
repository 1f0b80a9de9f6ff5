import type { Tx } from 'civic';
import type { Visitor } from 'civic/accounts';
import type { Provider } from 'oidc-provider';
import { grantedScopes, type AccessRequest, type Decision, type Destination } from '../pages/consent.ts';
import { deleteArtifactsOf } from '../store/artifacts.ts';
import { markClientUsed } from '../store/clients.ts';
import type { ClientPlace } from '../store/grants.ts';
import type { ServerContext } from './server.ts';

export interface ApprovedRequest {
  accessRequest: AccessRequest;
  decision: Decision;
  visitor: Visitor;
  /** Null for a device that showed a code. */
  destination: Destination | null;
  /** Stores the decision in the transaction of the connection. Returns false when another request has decided. */
  decide(tx: Tx, grantId: string): Promise<boolean>;
}

/** Creates the grant of the library and the connection of this plugin, with the same id. Returns false when another request has decided. */
export async function createGrant({ civic, grants }: ServerContext, provider: Provider, { accessRequest, decision, visitor, destination, decide }: ApprovedRequest): Promise<boolean> {
  const { client, resourceIdentifier, wantsIdentity } = accessRequest;
  const grant = new provider.Grant({ accountId: visitor.account.id, clientId: client.id });
  grant.jti = grants.newId();
  if (decision.scopes.length > 0) grant.addResourceScope(resourceIdentifier, decision.scopes.join(' '));
  if (wantsIdentity) grant.addOIDCScope('openid');
  await grant.save();
  const t = await civic.texts(visitor.doer.language ?? 'en');
  const client_name = client.name ?? t('unnamed_app');
  return civic.db.write(async (tx) => {
    if (!await decide(tx, grant.jti)) {
      await deleteArtifactsOf(tx, grant.jti);
      return false;
    }
    await grants.approve(tx, grant.jti, {
      account_id: visitor.account.id,
      workspace_id: decision.workspace,
      client_id: client.id,
      client_name,
      client_host: client.verifiedHost ?? destination?.host ?? null,
      client_place: placeOf(destination),
      resource: resourceIdentifier,
      scopes: grantedScopes(accessRequest, decision),
    }, t('consent.notice', { name: client_name }), visitor.doer);
    await markClientUsed(tx, client.id, civic.clock.iso());
    return true;
  });
}

function placeOf(destination: Destination | null): ClientPlace {
  if (!destination) return 'device';
  if (destination.host) return 'website';
  return destination.isLoopback ? 'program' : 'app';
}

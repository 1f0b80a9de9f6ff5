import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { Joi, readForm, type Civic } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { Provider } from 'oidc-provider';
import type { Resource, Resources } from '../resources.ts';
import { isLoopback, isPrivateScheme } from '../server/clients.ts';
import { clientById } from '../store/clients.ts';

/** The app that asks, as the user sees it. What it says about itself is marked as such. */
export interface ShownClient {
  id: string;
  name: string;
  /** The host that proves who the app is, for apps with a metadata document. */
  provenHost: string | null;
  isByOperator: boolean;
}

/** An access request that a user decides about, by browser or device. */
export interface AccessRequest {
  client: ShownClient;
  resource: Resource;
  /** As the client wrote it. */
  resourceIdentifier: string;
  /** The scopes of the resource that the app asks for; all when it names none. */
  scopes: string[];
  /** Whether the app asks who the user is. */
  wantsIdentity: boolean;
}

export interface ConsentContext {
  civic: Civic;
  accounts: AccountsService;
  resources: Resources;
}

interface RequestParameters {
  client_id?: unknown;
  scope?: unknown;
  resource?: unknown;
}

/** Returns null when the client is gone. */
export async function accessRequest({ civic, resources }: ConsentContext, provider: Provider, params: RequestParameters): Promise<AccessRequest | null> {
  const client = await provider.Client.find(String(params.client_id));
  if (!client) return null;
  const stored = await clientById(civic.db.read, client.clientId);
  const identifier = String([params.resource].flat()[0] ?? resources.byDefault().url);
  const { resource } = resources.named(identifier) ?? { resource: resources.byDefault() };
  const asked = typeof params.scope === 'string' ? params.scope.split(' ') : [];
  const known = resource.scopes().filter((scope) => asked.includes(scope));
  return {
    client: {
      id: client.clientId,
      name: client.clientName ?? (stored ? 'An app without a name' : new URL(client.clientId).hostname),
      provenHost: stored ? null : new URL(client.clientId).hostname,
      isByOperator: stored?.kind === 'operator',
    },
    resource,
    resourceIdentifier: identifier,
    scopes: known.length > 0 ? known : resource.scopes(),
    wantsIdentity: asked.includes('openid'),
  };
}

/** Where the user is sent afterwards, in words. */
export interface Destination {
  host: string | null;
  isLoopback: boolean;
}

export function destinationOf(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  return { host: isLoopback(url) || isPrivateScheme(url) ? null : url.host, isLoopback: isLoopback(url) };
}

export interface Decision {
  workspace: string;
  scopes: string[];
}

export interface ConsentFault {
  status: number;
  errors: Record<string, string>;
  given: Record<string, unknown>;
}

/** Reads the form against what was asked for: nothing else can be granted. */
export function readDecision(request: Request, asked: AccessRequest, { account, workspaces }: Visitor, civic: Civic): { decision: Decision } | { fault: ConsentFault } {
  const allowed = grantable(asked, account.role, civic);
  const form = Joi.object<Decision>({
    workspace: Joi.string().valid(...workspaces.map(({ id }) => id)).required().messages({ '*': 'Choose the workspace that the app may use.' }),
    scopes: Joi.array().items(Joi.string().valid(...allowed)).single().min(1).required().messages({ '*': 'Choose at least one thing that the app may do.' }),
  });
  const { values, errors, given } = readForm(request, form);
  return values ? { decision: values } : { fault: { status: 400, errors, given } };
}

const RANK = { user: 0, reviewer: 1, admin: 2 };

/** The scopes that the account can give: those above its role are not even shown. */
function grantable({ scopes }: AccessRequest, role: keyof typeof RANK, { vocabulary }: Civic): string[] {
  return scopes.filter((scope) => RANK[role] >= RANK[vocabulary.scopes.get(scope)?.role ?? 'user']);
}

export interface ConsentPage {
  asked: AccessRequest;
  visitor: Visitor;
  /** Where the form is sent, below the public address. */
  action: string;
  destination?: Destination;
  /** The code that the device shows. */
  userCode?: string;
  fault?: ConsentFault;
}

/** The page that names the app, what it may do and in which workspace. */
export function consentPage({ civic, accounts }: ConsentContext, h: ResponseToolkit, { asked, visitor, action, destination, userCode, fault }: ConsentPage): ResponseObject {
  const { account, workspaces, workspace_id } = visitor;
  const plan = accounts.planOf(account.plan);
  const chosenScopes = fault ? [fault.given['scopes'] ?? []].flat() : asked.scopes;
  const chosenWorkspace = fault?.given['workspace'] ?? workspace_id;
  return h.view('oauth/consent', {
    title: `Connect ${asked.client.name}`, action, userCode, destination, errors: fault?.errors,
    client: asked.client, account: account.name, resource: asked.resource.name, wantsIdentity: asked.wantsIdentity,
    isUnverified: Boolean(destination?.host) && asked.client.provenHost === null && !asked.client.isByOperator,
    hasChoice: workspaces.length > 1,
    workspaces: workspaces.map(({ id, name }) => ({ id, name, isChosen: id === chosenWorkspace })),
    scopes: grantable(asked, account.role, civic).map((scope) => {
      const { label, capability } = civic.vocabulary.scopes.get(scope) ?? { label: scope };
      return { scope, label, isChosen: chosenScopes.includes(scope), isBeyondPlan: capability !== undefined && !plan.capabilities.includes(capability) };
    }),
  }).code(fault?.status ?? 200).header('cache-control', 'private, no-store').header('referrer-policy', 'no-referrer');
}

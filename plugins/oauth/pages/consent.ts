import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { Joi, readForm, type Civic, type Texts } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { Provider } from 'oidc-provider';
import type { OauthConfig } from '../config.ts';
import { IDENTITY_SCOPE } from '../grants.ts';
import type { RecordOauthIncident } from '../incidents.ts';
import { requestedScopes, type Resource, type Resources } from '../resources.ts';
import { isLoopback, isPrivateScheme } from '../server/clients.ts';
import { clientById } from '../store/clients.ts';

/** The app as the consent page shows it. */
export interface ShownClient {
  id: string;
  /** The name that the app gave itself; null when it gave none. */
  name: string | null;
  /** The host of the metadata document, which proves that the app belongs to the host; null for other apps. */
  verifiedHost: string | null;
  isByOperator: boolean;
}

/** The access that an app requests and a user decides about, in a browser or for a device. */
export interface AccessRequest {
  client: ShownClient;
  resource: Resource;
  /** The identifier of the resource as the client wrote it. */
  resourceIdentifier: string;
  /** The requested scopes of the resource; all of them when the app requests none, and none when it requests the identity of the user only. */
  scopes: string[];
  /** Whether the app requests an ID token (`openid`). */
  wantsIdentity: boolean;
}

export interface ConsentContext {
  civic: Civic<OauthConfig>;
  accounts: AccountsService;
  resources: Resources;
}

/** The parameters of an authorization or device request, as the client sent them. */
interface RequestParameters {
  client_id?: unknown;
  scope?: unknown;
  resource?: unknown;
}

/** Returns null when the client does not exist any more. */
export async function loadAccessRequest({ civic, resources }: ConsentContext, provider: Provider, params: RequestParameters): Promise<AccessRequest | null> {
  const client = await provider.Client.find(String(params.client_id));
  if (!client) return null;
  const stored = await clientById(civic.db.read, client.clientId);
  // The client_id of a client that is not stored is the address of its metadata document.
  const verifiedHost = stored ? null : new URL(client.clientId).host;
  const identifier = String([params.resource].flat()[0] ?? resources.byDefault().url);
  const { resource } = resources.named(identifier) ?? { resource: resources.byDefault() };
  const { known, wantsIdentity } = requestedScopes(resource, params.scope);
  return {
    client: {
      id: client.clientId,
      name: client.clientName ?? verifiedHost,
      verifiedHost,
      isByOperator: stored?.kind === 'operator',
    },
    resource,
    resourceIdentifier: identifier,
    scopes: known,
    wantsIdentity,
  };
}

/** Where the browser goes after the decision. */
export interface Destination {
  /** Null for an app on the user's own device. */
  host: string | null;
  isLoopback: boolean;
  /** The scheme of an app on the user's own device, such as `cursor:`. */
  scheme: string | null;
}

export function destinationOf(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  const scheme = isPrivateScheme(url) ? url.protocol : null;
  return { host: scheme || isLoopback(url) ? null : url.host, isLoopback: isLoopback(url), scheme };
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

/** Validates the form against the request: a user can grant fewer scopes than requested, but no others. */
export function readDecision(request: Request, accessRequest: AccessRequest, { account, workspaces }: Visitor, civic: Civic, t: Texts): { decision: Decision } | { fault: ConsentFault } {
  const workspace = Joi.string().valid(...workspaces.map(({ id }) => id));
  const scope = Joi.string().valid(...grantableScopes(accessRequest, account.role, civic));
  // Without a permission the app uses no workspace; the connection is stored with the personal one.
  const form = Joi.object<Decision>(isIdentityOnly(accessRequest) ? {
    workspace: workspace.default(workspaces[0]!.id),
    scopes: Joi.array().length(0).default([]),
  } : {
    workspace: workspace.required().messages({ '*': 'consent.no_workspace' }),
    scopes: Joi.array().items(scope).single().min(1).required().messages({ '*': 'consent.no_scopes' }),
  });
  const { values, errors, given } = readForm(request, form, t);
  return values ? { decision: values } : { fault: { status: 400, errors, given } };
}

/** Returns the scopes of the tokens: those that the user granted, and `openid` when the app requests it. */
export function grantedScopes({ wantsIdentity }: AccessRequest, { scopes }: Decision): string[] {
  return wantsIdentity ? [...scopes, IDENTITY_SCOPE] : scopes;
}

/** Returns whether the app requests an ID token, but no access. */
function isIdentityOnly({ scopes, wantsIdentity }: AccessRequest): boolean {
  return wantsIdentity && scopes.length === 0;
}

/** A longer name is shown in smaller letters. */
const LONG_NAME = 24;

/** Returns whether a scope changes nothing. Plugins name such scopes `…:read`. */
function isReading(scope: string): boolean {
  return scope.endsWith(':read');
}

const RANK = { user: 0, reviewer: 1, admin: 2 };

/** Returns the requested scopes that the role of the account allows. The page does not show the others. */
function grantableScopes({ scopes }: AccessRequest, role: keyof typeof RANK, { vocabulary }: Civic): string[] {
  return scopes.filter((scope) => RANK[role] >= RANK[vocabulary.scopes.get(scope)?.role ?? 'user']);
}

export interface ConsentPage {
  accessRequest: AccessRequest;
  visitor: Visitor;
  /** The path of this page with its query, and the path that the form is sent to, below the public address. */
  here: string;
  action: string;
  destination?: Destination;
  /** The code that the device shows. */
  userCode?: string;
  fault?: ConsentFault;
}

/** Shows the app, the permissions and the workspace, with the form that grants or denies them. */
export function consentPage({ civic, accounts }: ConsentContext, h: ResponseToolkit, t: Texts, { accessRequest, visitor, here, action, destination, userCode, fault }: ConsentPage): ResponseObject {
  const { client, wantsIdentity } = accessRequest;
  const { account, workspaces, workspace_id } = visitor;
  const { capabilities } = accounts.planOf(account.plan);
  const chosenScopes = fault && [fault.given['scopes'] ?? []].flat();
  const chosenWorkspace = fault?.given['workspace'] ?? workspace_id;
  const permissions = grantableScopes(accessRequest, account.role, civic).map((scope) => {
    const { label, hint, capability } = shownScope(civic, scope, t);
    const isBeyondPlan = capability !== undefined && !capabilities.includes(capability);
    const plans = isBeyondPlan ? accounts.plans().filter((plan) => plan.capabilities.includes(capability)).map(({ name }) => name).join(', ') : '';
    // Also beyond the plan: an app without a scope that it needs requests it again and again, and calls without the plan name the plans.
    return { scope, label, hint, isBeyondPlan, plans, isChosen: !chosenScopes || chosenScopes.includes(scope) };
  });
  const isNative = Boolean(destination?.isLoopback || destination?.scheme);
  const isUnverified = client.verifiedHost === null && !client.isByOperator;
  return h.view('oauth/consent', {
    title: client.name === null ? t('consent.title_unnamed') : t('consent.title', { name: client.name }),
    here, action, userCode, destination, client, wantsIdentity, isNative, isUnverified,
    isLong: (client.name?.length ?? 0) > LONG_NAME,
    hasCaution: isNative || isUnverified || userCode !== undefined,
    isAllowed: permissions.length > 0 || isIdentityOnly(accessRequest),
    hasPermissions: permissions.length > 0,
    reads: permissions.filter(({ scope }) => isReading(scope)),
    writes: permissions.filter(({ scope }) => !isReading(scope)),
    errors: fault?.errors,
    account: account.name,
    unusedDays: civic.config.refresh_days,
    hasChoice: permissions.length > 0 && workspaces.length > 1,
    workspaces: permissions.length > 0 ? workspaces.map(({ id, name }) => ({ id, name, isChosen: id === chosenWorkspace })) : [],
  }).code(fault?.status ?? 200).header('cache-control', 'private, no-store').header('referrer-policy', 'no-referrer');
}

/** Returns a scope with its label and hint in the language of the page; the scope itself is the label when its plugin is off. */
export function shownScope({ vocabulary }: Pick<Civic, 'vocabulary'>, scope: string, t: Texts): { label: string; hint?: string; capability?: string } {
  const known = vocabulary.scopes.get(scope);
  if (!known) return { label: scope };
  const { plugin, label, hint, capability } = known;
  return { label: t.declared(plugin, `scopes.${scope}`, label), hint: hint && t.declared(plugin, `hints.${scope}`, hint), capability };
}

/** Records a consent form that another site sent, or that has expired. */
export async function recordForgery({ recordIncident }: { recordIncident: RecordOauthIncident }, request: Request): Promise<void> {
  const accountId = request.auth.credentials?.account_id as string | undefined;
  await recordIncident(request, { kind: 'oauth_consent_forged', account_id: accountId ?? null, detail: { path: request.path } });
}

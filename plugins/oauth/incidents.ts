import type { Incident, RecordIncident } from 'civic/accounts';

/** The kinds of security events of this plugin in the audit record. */
export const AUDIT_KINDS = {
  oauth_connected: { label: 'An app was connected' },
  oauth_disconnected: { label: 'An app was disconnected', changesAccess: true },
  oauth_client_made: { label: 'An OAuth client was created' },
  oauth_client_removed: { label: 'An OAuth client was removed' },
  oauth_code_replayed: { label: 'A used authorization code was presented again' },
  oauth_token_replayed: { label: 'A used refresh token was presented again' },
  oauth_token_repeated: { label: 'A used refresh token was accepted again within the grace period' },
  oauth_request_refused: { label: 'An OAuth request was refused' },
  oauth_consent_forged: { label: 'A forged or expired consent form was refused' },
  oauth_resource_refused: { label: 'A token was refused by a resource that it is not for' },
  oauth_workspace_refused: { label: 'A token was refused by a workspace that it is not for' },
  oauth_registration_refused: { label: 'A registration was refused because there were too many' },
};

/** The kinds that are refused attempts. The others are changes. */
export type IncidentKind = Exclude<keyof typeof AUDIT_KINDS, 'oauth_connected' | 'oauth_disconnected' | 'oauth_client_made' | 'oauth_client_removed'>;

export type OauthIncident = Incident<IncidentKind>;
export type RecordOauthIncident = RecordIncident<IncidentKind>;

export const MOST_INCIDENTS_PER_MINUTE = 20;

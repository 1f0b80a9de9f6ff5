import type { Incident, RecordIncident } from 'civic/accounts';

/** The kinds of security events of this plugin in the audit record. */
export const AUDIT_KINDS = {
  oauth_connected: { plugin: 'oauth', label: 'audit.oauth_connected' },
  oauth_disconnected: { plugin: 'oauth', label: 'audit.oauth_disconnected', changesAccess: true },
  oauth_client_made: { plugin: 'oauth', label: 'audit.oauth_client_made' },
  oauth_client_removed: { plugin: 'oauth', label: 'audit.oauth_client_removed' },
  oauth_code_replayed: { plugin: 'oauth', label: 'audit.oauth_code_replayed' },
  oauth_token_replayed: { plugin: 'oauth', label: 'audit.oauth_token_replayed' },
  oauth_token_repeated: { plugin: 'oauth', label: 'audit.oauth_token_repeated' },
  oauth_request_refused: { plugin: 'oauth', label: 'audit.oauth_request_refused' },
  oauth_consent_forged: { plugin: 'oauth', label: 'audit.oauth_consent_forged' },
  oauth_resource_refused: { plugin: 'oauth', label: 'audit.oauth_resource_refused' },
  oauth_workspace_refused: { plugin: 'oauth', label: 'audit.oauth_workspace_refused' },
  oauth_registration_refused: { plugin: 'oauth', label: 'audit.oauth_registration_refused' },
};

/** The kinds that are refused attempts. The others are changes. */
export type IncidentKind = Exclude<keyof typeof AUDIT_KINDS, 'oauth_connected' | 'oauth_disconnected' | 'oauth_client_made' | 'oauth_client_removed'>;

export type OauthIncident = Incident<IncidentKind>;
export type RecordOauthIncident = RecordIncident<IncidentKind>;

export const MOST_INCIDENTS_PER_MINUTE = 20;

import type { Caller } from 'civic';

export type InstanceRole = Caller['role'];
export type WorkspaceRole = NonNullable<Caller['workspace_role']>;

export const INSTANCE_ROLES: InstanceRole[] = ['user', 'reviewer', 'admin'];
export const WORKSPACE_ROLES: WorkspaceRole[] = ['member', 'reviewer', 'admin', 'owner'];

/** Somebody, as the plugin's own functions and other plugins see them. */
export interface Account {
  id: string;
  name: string;
  email: string | null;
  role: InstanceRole;
  /** The plan in force now: a lapsed one is the default plan again. */
  plan: string;
  plan_until: string | null;
  created_at: string;
  disabled_at: string | null;
}

export interface Workspace {
  id: string;
  name: string;
  personal: boolean;
  /** What the account asked for is in it. */
  role: WorkspaceRole;
  created_at: string;
}

/** Who does something, for the audit record: nobody when it is done by command line. */
export interface Doer {
  account_id: string | null;
  address: string | null;
  /** The language of the request, in which mails about the change are written; English when left out. */
  language?: import('civic').Language;
}

export const OPERATOR: Doer = { account_id: null, address: null };

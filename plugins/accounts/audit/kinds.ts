/** A kind of security event in the audit record. */
export interface AuditKindOptions {
  /** The plugin whose catalogue has the text that `label` then names: `audit.oauth_connected`. Without it `label` is the text itself. */
  plugin?: string;
  /** A sentence for the console: "A key was created". */
  label: string;
  /** The event changes the access of an account: every node empties its credential caches. */
  changesAccess?: boolean;
}

/** The plugin of the kinds below, whose labels are `audit.<kind>` in its catalogue. */
export const OWN = 'accounts';

const KINDS = {
  audit_sealed: {},
  account_made: {},
  account_disabled: { changesAccess: true },
  account_enabled: { changesAccess: true },
  plan_set: { changesAccess: true },
  role_set: { changesAccess: true },
  email_requested: {},
  email_changed: {},
  identity_confirmed: {},
  key_made: {},
  key_revoked: { changesAccess: true },
  workspace_made: { changesAccess: true },
  workspace_renamed: { changesAccess: true },
  workspace_deleted: { changesAccess: true },
  workspace_chosen: {},
  member_added: { changesAccess: true },
  member_changed: { changesAccess: true },
  member_removed: { changesAccess: true },
  invitation_made: {},
  invitation_removed: {},
  invitation_declined: {},
  link_made: {},
  link_used: {},
  signed_in: {},
  sign_in_refused: {},
  session_ended: { changesAccess: true },
  passkey_added: {},
  passkey_removed: {},
  codes_made: {},
  code_used: {},
} satisfies Record<string, Pick<AuditKindOptions, 'changesAccess'>>;

export type AuditKind = keyof typeof KINDS;

/** The kinds of this plugin and those that other plugins declare. */
export interface AuditKinds {
  declare(kinds: Record<string, AuditKindOptions>): void;
  has(kind: string): boolean;
  /** Returns the kind itself when the plugin that declares it is off. */
  labelOf(kind: string): Pick<AuditKindOptions, 'plugin' | 'label'>;
  /** Returns the kinds that change access. */
  changingAccess(): string[];
}

export function createAuditKinds(): AuditKinds {
  const declared = new Map<string, AuditKindOptions>(Object.entries(KINDS).map(([kind, options]) => [kind, { plugin: OWN, label: `audit.${kind}`, ...options }]));
  return {
    declare(kinds) {
      for (const [kind, options] of Object.entries(kinds)) {
        if (declared.has(kind)) throw new Error(`The audit kind "${kind}" is declared twice: give it another name`);
        declared.set(kind, options);
      }
    },
    has: (kind) => declared.has(kind),
    labelOf(kind) {
      const { plugin, label = kind } = declared.get(kind) ?? {};
      return { plugin, label };
    },
    changingAccess: () => [...declared].filter(([, { changesAccess }]) => changesAccess).map(([kind]) => kind),
  };
}

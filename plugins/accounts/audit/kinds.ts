/** A kind of security event in the audit record. */
export interface AuditKindOptions {
  /** A sentence for the console: "A key was created". */
  label: string;
  /** The event changes the access of an account: every node empties its credential caches. */
  changesAccess?: boolean;
}

const OWN = {
  audit_sealed: { label: 'Sealing of the record began' },
  account_made: { label: 'The account was created' },
  account_disabled: { label: 'The account was disabled', changesAccess: true },
  account_enabled: { label: 'The account was enabled', changesAccess: true },
  plan_set: { label: 'The plan was set', changesAccess: true },
  role_set: { label: 'The role was set', changesAccess: true },
  email_requested: { label: 'A new e-mail address was requested' },
  email_changed: { label: 'The e-mail address was changed' },
  identity_confirmed: { label: 'Identity was confirmed for a change' },
  key_made: { label: 'A key was created' },
  key_revoked: { label: 'A key was revoked', changesAccess: true },
  workspace_made: { label: 'A workspace was created', changesAccess: true },
  workspace_chosen: { label: 'A workspace was chosen' },
  member_added: { label: 'A member was added', changesAccess: true },
  member_changed: { label: 'A member’s role was changed', changesAccess: true },
  member_removed: { label: 'A member left or was removed', changesAccess: true },
  invitation_made: { label: 'An invitation was created' },
  invitation_removed: { label: 'An invitation was withdrawn' },
  invitation_declined: { label: 'An invitation was declined' },
  link_made: { label: 'A sign-in link was created' },
  link_used: { label: 'A sign-in link was used' },
  signed_in: { label: 'Signed in' },
  sign_in_refused: { label: 'A sign-in was refused' },
  session_ended: { label: 'A session ended', changesAccess: true },
  passkey_added: { label: 'A passkey was added' },
  passkey_removed: { label: 'A passkey was removed' },
  codes_made: { label: 'Recovery codes were created' },
  code_used: { label: 'A recovery code was used' },
} satisfies Record<string, AuditKindOptions>;

export type AuditKind = keyof typeof OWN;

/** The kinds of this plugin and those that other plugins declare. */
export interface AuditKinds {
  declare(kinds: Record<string, AuditKindOptions>): void;
  has(kind: string): boolean;
  /** Returns the kind itself when the plugin that declares it is off. */
  labelOf(kind: string): string;
  /** Returns the kinds that change access. */
  changingAccess(): string[];
}

export function createAuditKinds(): AuditKinds {
  const declared = new Map<string, AuditKindOptions>(Object.entries(OWN));
  return {
    declare(kinds) {
      for (const [kind, options] of Object.entries(kinds)) {
        if (declared.has(kind)) throw new Error(`The audit kind "${kind}" is declared twice: give it another name`);
        declared.set(kind, options);
      }
    },
    has: (kind) => declared.has(kind),
    labelOf: (kind) => declared.get(kind)?.label ?? kind,
    changingAccess: () => [...declared].filter(([, { changesAccess }]) => changesAccess).map(([kind]) => kind),
  };
}

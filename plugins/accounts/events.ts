import { Joi, type EventKind } from 'civic';

/** Somebody may do more or less than before; caches forget them, and streams that were theirs end. */
export interface AccessChanged {
  account_id: string;
  what: 'key_revoked' | 'plan' | 'role' | 'disabled' | 'membership' | 'session_ended' | 'credential_revoked';
  key_id?: string;
  session_id?: string;
  /** The credential of another plugin that ended, such as an OAuth grant. */
  credential_id?: string;
}

declare module 'civic' {
  interface Events { 'accounts.access_changed': AccessChanged }
}

export const accountEvents: Record<string, EventKind> = {
  'accounts.access_changed': {
    summary: 'An account may do more or less than before: a key, session or other credential ended, its plan, role or membership changed, or it was disabled',
    version: 1,
    payload: Joi.object<AccessChanged, true>({
      account_id: Joi.string().required(),
      what: Joi.string().valid('key_revoked', 'plan', 'role', 'disabled', 'membership', 'session_ended', 'credential_revoked').required(),
      key_id: Joi.string(),
      session_id: Joi.string(),
      credential_id: Joi.string(),
    }),
  },
};

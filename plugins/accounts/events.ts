import { Joi, type EventKind } from 'civic';

/** Somebody may do more or less than before; caches forget them, and streams that were theirs end. */
export interface AccessChanged {
  account_id: string;
  what: 'key_revoked' | 'plan' | 'role' | 'disabled' | 'membership' | 'session_ended';
  key_id?: string;
  session_id?: string;
}

declare module 'civic' {
  interface Events { 'accounts.access_changed': AccessChanged }
}

export const accountEvents: Record<string, EventKind> = {
  'accounts.access_changed': {
    summary: 'An account may do more or less than before: a key or session ended, its plan, role or membership changed, or it was disabled',
    version: 1,
    payload: Joi.object<AccessChanged, true>({
      account_id: Joi.string().required(),
      what: Joi.string().valid('key_revoked', 'plan', 'role', 'disabled', 'membership', 'session_ended').required(),
      key_id: Joi.string(),
      session_id: Joi.string(),
    }),
  },
};

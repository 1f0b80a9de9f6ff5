import { Joi, type EventKind } from 'civic';

/** The signing keys changed. Every node reads them again. */
export interface KeysChanged {
  kid: string;
}

declare module 'civic' {
  interface Events { 'oauth.keys_changed': KeysChanged }
}

export const oauthEvents: Record<string, EventKind> = {
  'oauth.keys_changed': {
    summary: 'A key that signs ID tokens was added or removed',
    version: 1,
    payload: Joi.object<KeysChanged, true>({ kid: Joi.string().required() }),
  },
};

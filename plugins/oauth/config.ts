import { Joi, type ConfigFragment } from 'civic';
import { LEAST_CHARACTERS } from './secrets.ts';

export interface OauthConfig {
  access_minutes: number;
  refresh_days: number;
  refresh_grace_seconds: number;
  registration: { enabled: boolean; clients_per_hour: number };
  metadata_documents: { enabled: boolean; hosts: string[] };
  key_days: number;
  key: string | null;
}

export const oauthOptions: ConfigFragment = {
  access_minutes: {
    doc: 'Minutes until an access token expires.',
    format: Joi.number().integer().min(1).max(1440),
    default: 15,
  },
  refresh_days: {
    doc: 'Days until an unused refresh token expires, and with it the connection of the app.',
    format: Joi.number().integer().min(1).max(365),
    default: 30,
  },
  refresh_grace_seconds: {
    doc: 'Seconds in which a used refresh token is accepted again, up to four times, for apps that lost a response or whose processes share a token; 0 accepts each token once.',
    format: Joi.number().integer().min(0).max(3600),
    default: 60,
  },
  registration: {
    enabled: {
      doc: 'Whether apps can register themselves (RFC 7591). Most assistants do.',
      format: Boolean,
      default: true,
    },
    clients_per_hour: {
      doc: 'The number of apps that can register themselves in an hour, from all addresses together.',
      format: Joi.number().integer().min(1).max(1_000_000),
      default: 600,
    },
  },
  metadata_documents: {
    enabled: {
      doc: 'Whether an app can use the https address of a client ID metadata document as its client_id.',
      format: Boolean,
      default: true,
    },
    hosts: {
      doc: 'The hosts from which metadata documents are read, such as app.example.org; an empty list allows every public host.',
      format: Joi.array().items(Joi.string().hostname()),
      default: [],
    },
  },
  key_days: {
    doc: 'Days until the keys that sign ID tokens are replaced.',
    format: Joi.number().integer().min(1).max(3650),
    default: 90,
  },
  key: {
    doc: 'The secret that encrypts signing keys and signs cookies, 32 characters or more; null creates one in the file oauth.key of the data folder. All nodes of an instance need the same secret.',
    format: Joi.string().min(LEAST_CHARACTERS),
    nullable: true,
    default: null,
    sensitive: true,
  },
};

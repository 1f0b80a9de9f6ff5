import { Joi, type ConfigFragment } from 'civic';

export interface FirehoseConfig {
  anonymous: boolean;
  retention_days: number;
  max_streams: number;
  anonymous_streams: number;
  session_days: number;
  partners: string[];
  relay: { url: string | null; api_key: string | null };
}

export const firehoseOptions: ConfigFragment = {
  anonymous: {
    doc: 'Whether everybody may read public signals (visibility=public) without a key.',
    format: Boolean,
    default: false,
  },
  retention_days: {
    doc: 'How long signals can be found and replayed.',
    format: Joi.number().integer().min(1).max(36_500),
    default: 400,
  },
  max_streams: {
    doc: 'How many streams and sockets a node keeps open at most; the next one is asked to come back later.',
    format: Joi.number().integer().min(1).max(1_000_000),
    default: 20_000,
  },
  anonymous_streams: {
    doc: 'How many streams without a key one address may have open on a node; raise it when many visitors share an address.',
    format: Joi.number().integer().min(1).max(1_000_000),
    default: 30,
  },
  session_days: {
    doc: 'A session that nobody used for so many days is removed.',
    format: Joi.number().integer().min(1).max(365),
    default: 30,
  },
  partners: {
    doc: 'The ids of the workspaces that may see signals meant for partners.',
    format: Joi.array().items(Joi.string().uuid().messages({ 'string.guid': '{{#label}} must be the id of a workspace, as /api/workspaces tells it' })) as never,
    default: [],
  },
  relay: {
    url: {
      doc: 'The address of another instance whose public signals are told here too; null for none.',
      format: Joi.string().uri({ scheme: ['http', 'https'] }),
      nullable: true,
      default: null,
    },
    api_key: {
      doc: 'An API key of that instance, when it does not let everybody read.',
      format: String,
      nullable: true,
      default: null,
      sensitive: true,
    },
  },
};

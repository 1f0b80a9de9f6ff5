import { Joi, type ConfigFragment } from 'civic';

export interface ScoutConfig {
  instance: { url: string | null };
}

export const scoutOptions: ConfigFragment = {
  instance: {
    url: { doc: 'The instance to which reviewed entries are sent.', format: Joi.string().uri({ scheme: ['http', 'https'] }) as never, nullable: true, default: null },
  },
};

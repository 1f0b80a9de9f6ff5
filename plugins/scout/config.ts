import { Joi, type ConfigFragment } from 'civic';

export interface ScoutConfig {
  instance: { url: string | null };
  respect_robots: boolean;
}

export const scoutOptions: ConfigFragment = {
  respect_robots: { doc: 'Whether robots.txt is obeyed.', format: Boolean, default: true },
  instance: {
    url: { doc: 'The instance to which reviewed entries are sent.', format: Joi.string().uri({ scheme: ['http', 'https'] }) as never, nullable: true, default: null },
  },
};

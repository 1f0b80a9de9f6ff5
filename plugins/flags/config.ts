import { Joi, type ConfigFragment } from 'civic';

export interface FlagsConfig {
  max_links: number;
  max_repeats: number;
}

export const flagsOptions: ConfigFragment = {
  max_links: { doc: 'How many web addresses a report may contain. A report with more is suspected spam: reviewers see it, and it is not counted until one accepts it.', format: Joi.number().integer().min(0).max(100), default: 3 },
  max_repeats: { doc: 'On how many actors or sources the same text may be reported within a day. Reports on further ones are suspected spam.', format: Joi.number().integer().min(1).max(1000), default: 3 },
};

import { Joi, type ConfigFragment } from 'civic';

export interface FlagsConfig {
  max_links: number;
  max_repeats: number;
}

export const flagsOptions: ConfigFragment = {
  max_links: { doc: 'How many web addresses a report may contain. A report with more is shown to reviewers as suspected spam, and counts nowhere until a reviewer decides.', format: Joi.number().integer().min(0).max(100), default: 3 },
  max_repeats: { doc: 'On how many other actors or sources the same text may be reported within a day. Further reports are suspected spam.', format: Joi.number().integer().min(1).max(1000), default: 3 },
};

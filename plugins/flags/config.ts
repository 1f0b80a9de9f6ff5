import { Joi, type ConfigFragment } from 'civic';

export interface FlagsConfig {
  max_links: number;
  max_repeats: number;
  email_days: number;
  max_mails_per_hour: number;
  hold_hours: number;
  max_holds_per_day: number;
}

export const flagsOptions: ConfigFragment = {
  max_links: { doc: 'How many web addresses a report may contain. A report with more is suspected spam: reviewers see it, and it is not counted until one accepts it.', format: Joi.number().integer().min(0).max(100), default: 3 },
  max_repeats: { doc: 'On how many actors or sources the same text may be reported within a day. Reports on further ones are suspected spam.', format: Joi.number().integer().min(1).max(1000), default: 3 },
  email_days: { doc: 'Days after which the e-mail address of a reporter is deleted, counted from the dismissal or resolution of the report.', format: Joi.number().integer().min(1).max(365), default: 30 },
  max_mails_per_hour: { doc: 'How many mails about reports one address gets in an hour; four times as many in a day. Receipts beyond that are not mailed, other mails wait.', format: Joi.number().integer().min(1).max(100), default: 5 },
  hold_hours: { doc: 'Hours for which a report of the type privacy hides the e-mail and phone of a person, unless a reviewer decides earlier; 0 hides nothing.', format: Joi.number().integer().min(0).max(72), default: 72 },
  max_holds_per_day: { doc: 'For how many people the reports of one account or client address hide e-mail and phone in a day.', format: Joi.number().integer().min(0).max(1000), default: 3 },
};

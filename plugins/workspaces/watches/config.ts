import { Joi, type ConfigFragment } from 'civic';

export interface WatchesConfig {
  digest_hour: number;
  digest_days: number;
  alert_wait_seconds: number;
  alert_pause_seconds: number;
}

export const watchOptions: ConfigFragment = {
  digest_hour: { doc: 'The hour at which members get the mail with their digest, in their own time zone, until they choose another.', format: Joi.number().integer().min(0).max(23), default: 7 },
  digest_days: { doc: 'For how many days the digest shows what watches found.', format: Joi.number().integer().min(1).max(3650), default: 90 },
  alert_wait_seconds: { doc: 'How long an immediate mail waits for further signals, so that signals that come together are one mail.', format: 'nat', default: 60 },
  alert_pause_seconds: { doc: 'The shortest time between two immediate mails to a member.', format: 'nat', default: 600 },
};

import { Joi, type EventKind } from 'civic';
import { FLAG_TYPES, STATUSES, TARGET_TYPES, type FlagType, type Status, type TargetType } from './types.ts';

/** Neither event has what the reporter wrote: it is for reviewers only. */
export interface FlagEvent {
  id: string;
  target_type: TargetType;
  target_id: string;
  flag_type: FlagType;
  status: Status;
  /** Whether the flag may be spam: nobody is notified of one. */
  is_suspected: boolean;
}

declare module 'civic' {
  interface Events {
    'flags.created': FlagEvent;
    'flags.decided': FlagEvent;
  }
}

const payload = Joi.object<FlagEvent, true>({
  id: Joi.string().required(),
  target_type: Joi.string().valid(...TARGET_TYPES).required(),
  target_id: Joi.string().required(),
  flag_type: Joi.string().valid(...FLAG_TYPES).required(),
  status: Joi.string().valid(...STATUSES).required(),
  is_suspected: Joi.boolean().required(),
});

export const flagEvents: Record<string, EventKind> = {
  'flags.created': { summary: 'An actor or a source was flagged', version: 1, payload },
  'flags.decided': { summary: 'A reviewer accepted, dismissed or resolved a flag', version: 1, payload },
};

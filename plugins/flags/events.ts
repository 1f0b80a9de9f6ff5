import { Joi, type EventKind } from 'civic';
import { FLAG_TYPES, STATUSES, TARGET_TYPES, type FlagType, type Status, type TargetType } from './types.ts';

/** The payload of all events. It contains nothing that the reporter wrote, because only reviewers may read it. */
export interface FlagEvent {
  id: string;
  target_type: TargetType;
  target_id: string;
  flag_type: FlagType;
  status: Status;
  /** Whether the flag may be spam. Plugins should send no notification about such a flag. */
  is_suspected: boolean;
}

declare module 'civic' {
  interface Events {
    'flags.created': FlagEvent;
    'flags.decided': FlagEvent;
    'flags.cleared': FlagEvent;
    'flags.undone': FlagEvent;
    'flags.replied': FlagEvent;
    'flags.reopened': FlagEvent;
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
  'flags.created': { summary: 'An actor, a source or a place was flagged', version: 1, payload },
  'flags.decided': { summary: 'A reviewer accepted, dismissed or resolved a flag', version: 1, payload },
  'flags.cleared': { summary: 'A reviewer found that a suspected flag is no spam', version: 1, payload },
  'flags.undone': { summary: 'A reviewer undid the last decision on a flag', version: 1, payload },
  'flags.replied': { summary: 'The reporter of a flag replied to a question of a reviewer', version: 1, payload },
  'flags.reopened': { summary: 'The reporter of a dismissed or resolved flag reopened it', version: 1, payload },
};

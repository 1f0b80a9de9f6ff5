import { Joi } from 'civic';
import { written } from '../schemas.ts';
import { MESSAGE_KINDS } from './messages-store.ts';

export const newMessage = Joi.object({ text: written.min(1).required() }).meta({ name: 'NewFlagMessage' });

const shownMessage = Joi.object({
  kind: Joi.string().valid(...MESSAGE_KINDS).required(),
  text: Joi.string().allow(null).required().description('The question; null for what the reporter wrote'),
  at: Joi.string().isoDate().required(),
}).meta({ name: 'FlagMessage' });

export const shownMessages = Joi.object({
  data: Joi.array().items(shownMessage).required(),
  can_reply: Joi.boolean().required().description('Whether a question takes a reply now'),
  can_reopen: Joi.boolean().required().description('Whether the flag can be reopened now'),
}).meta({ name: 'FlagMessages' });

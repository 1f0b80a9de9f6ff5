import { Joi } from 'civic';

/** What people type, the same wherever they are asked for it. */
export const nameField = Joi.string().trim().min(1).max(100).required().label('the name')
  .messages({ 'string.empty': 'fields.no_name', 'any.required': 'fields.no_name', 'string.max': 'fields.long_name' });

export const emailField = Joi.string().trim().max(254).email({ tlds: { allow: false } }).label('the e-mail')
  .messages({ 'string.email': 'fields.wrong_email', 'string.empty': 'fields.no_email', 'any.required': 'fields.no_email', 'string.max': 'fields.long_email' });

import { Joi } from 'civic';

/** What people type, the same wherever they are asked for it. */
export const nameField = Joi.string().trim().min(1).max(100).required().label('the name')
  .messages({ 'string.empty': 'Give a name.', 'any.required': 'Give a name.', 'string.max': 'A name has up to 100 characters.' });

export const emailField = Joi.string().trim().max(254).email({ tlds: { allow: false } }).label('the e-mail')
  .messages({ 'string.email': 'This is no e-mail address: it looks like name@example.org.', 'string.empty': 'Give your e-mail address.', 'any.required': 'Give your e-mail address.', 'string.max': 'An e-mail address has up to 254 characters.' });

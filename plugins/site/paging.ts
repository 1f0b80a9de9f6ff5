import { Joi } from 'civic';

const ON_A_PAGE = 25;

/** The parameters of pages with long lists. */
export const paging = { cursor: Joi.string().max(20_000), limit: Joi.number().valid(ON_A_PAGE).default(ON_A_PAGE) };

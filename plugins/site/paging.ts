import { Joi } from 'civic';

const ON_A_PAGE = 25;

/** The parameters of pages with long lists. Pages ignore `limit`, which only the API has, and show 25 rows. */
export const paging = { cursor: Joi.string().max(20_000), limit: Joi.any().custom(() => ON_A_PAGE).default(ON_A_PAGE) };

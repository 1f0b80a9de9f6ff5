import { Joi } from 'civic';

const ON_A_PAGE = 25;

/** Pages ignore `limit`, which only the API has. */
export const fixedLimit = (rows: number) => Joi.any().custom(() => rows).default(rows);

/** The parameters of pages with long lists. */
export const paging = { cursor: Joi.string().max(20_000), limit: fixedLimit(ON_A_PAGE) };

import type { HeaderPart } from 'civic';

/** The search field in the header of every page that has none of its own. */
export const finderPart: HeaderPart = {
  partial: 'site/header',
  order: 10,
  fill: ({ path }) => (path === '/' || path === '/search' ? null : {}),
};

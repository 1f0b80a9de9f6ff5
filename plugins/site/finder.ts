import type { HeaderPart } from 'civic';

/** The search field in the header, for pages without a search field of their own. */
export const finderPart: HeaderPart = {
  partial: 'site/header',
  order: 10,
  fill: ({ path }) => (path === '/' || path === '/search' ? null : {}),
};

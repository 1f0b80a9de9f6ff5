import type { Example, Examples } from 'civic';

const PATH = '/api/watched-sources';
/** The address does not exist, so that no example sends requests to a real site. Each example has one of its own, because an address is watched once. */
const source = (name: string) => ({ url: `https://city.example/${name}.ics`, name: 'City calendar', place: 'gladstone,missouri', tags: ['council'], test: false });
const one = (name: string): Example => ({ given: { source: { of: `POST ${PATH}`, body: source(name) } }, params: { id: '$source' } });

/** Requests for `/docs`. */
export const ingestExamples: Examples = {
  [`GET ${PATH}`]: {},
  [`POST ${PATH}`]: { body: source('calendar') },
  [`POST ${PATH}/import`]: { body: { sources: [source('budget'), source('courts')].map(({ test: _test, ...listed }) => listed) } },
  [`GET ${PATH}.opml`]: {},
  ...Object.fromEntries(['atom', 'json'].map((format) => [`GET ${PATH}/{id}/feed.${format}`, { given: { source: { of: `POST ${PATH}`, body: { ...source(`feed-${format}`), visibility: 'public' } } }, params: { id: '$source' } }])),
  [`GET ${PATH}/{id}`]: one('council'),
  [`PATCH ${PATH}/{id}`]: { ...one('zoning'), body: { cadence_seconds: 7200 } },
  [`DELETE ${PATH}/{id}`]: one('library'),
  [`POST ${PATH}/{id}/test`]: one('schools'),
  [`POST ${PATH}/{id}/pause`]: one('parks'),
  [`GET ${PATH}/{id}/history`]: one('police'),
};

import type { Request, ServerRoute } from '@hapi/hapi';
import { cutText, Joi, pagePath, textEtag, type Texts } from 'civic';
import type { Actor, CoveredPlace, TaxonomyIssue } from 'civic/directory';
import type { Site } from './site.ts';
import { translatedTopic } from './words.ts';

interface Suggestion {
  name: string;
  detail: string;
  href: string;
}

interface Suggestions {
  groups: { name: string; items: Suggestion[] }[];
  /** The number of suggestions as a text, for screen readers. */
  status: string;
}

const MOST = { places: 3, issues: 3, entries: 5 };
const LONGEST_NAME = 80;
const MOST_BYTES = 4096;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Returns the route of suggestions for a typed text, which `assets/finder.js` requests. */
export function suggestRoute(site: Site): ServerRoute {
  const { civic, directory } = site;
  return {
    method: 'GET',
    path: '/suggest',
    options: {
      plugins: { civic: { internal: true } },
      validate: { query: Joi.object({ q: Joi.string().trim().max(300).allow('').default('') }).options({ stripUnknown: true }) },
      ext: { onPostAuth: { method: directory.responses.hit } },
    },
    handler: (request, h) => directory.responses.answer(request, h, 'all', async () => {
      const t = await civic.texts(request.civic.language);
      const body = fitted(await suggestions(site, request, t), t);
      const isNegotiated = request.civic.languagePrefix === '';
      return { body, etag: textEtag(body), type: JSON_TYPE, cacheControl: 'public, max-age=60', ...(isNegotiated && { headers: { vary: 'accept-language' } }) };
    }),
  };
}

async function suggestions({ directory }: Site, request: Request, t: Texts): Promise<Suggestions['groups']> {
  const text = String(request.query.q);
  if (Array.from(text).length < 2) return [];
  const [places, issues, entries] = await Promise.all([
    directory.placesLike(text, MOST.places),
    directory.issuesLike(text, MOST.issues, (issue) => translatedTopic(t, 'issue_areas', issue).name),
    directory.actorsLike(text, MOST.entries),
  ]);
  const linked = ({ href, ...shown }: Suggestion): Suggestion => ({ ...shown, href: pagePath(request, href) });
  return [
    { name: t('find.places'), items: places.map((place) => linked(shownPlace(place, t))) },
    { name: t('find.issues'), items: issues.map((issue) => linked(shownIssue(issue, t))) },
    { name: t('find.entries'), items: entries.map((entry) => linked(shownEntry(entry, t))) },
  ].filter(({ items }) => items.length > 0);
}

function shownPlace({ display_name, entity_count, place_key }: CoveredPlace, t: Texts): Suggestion {
  return { name: display_name, detail: t('find.count', { count: entity_count }), href: `/places/${place_key}` };
}

function shownIssue(issue: TaxonomyIssue, t: Texts): Suggestion {
  return { name: translatedTopic(t, 'issue_areas', issue).name, detail: t('find.count', { count: issue.entity_count }), href: `/issues/${issue.slug}` };
}

function shownEntry({ id, name, places: [place], type }: Actor, t: Texts): Suggestion {
  return { name: cutText(name, LONGEST_NAME), detail: [t(`types.${type}`), ...(place ? [cutText(place.name, LONGEST_NAME)] : [])].join(' · '), href: `/actors/${id}` };
}

/** Returns suggestions as JSON, as many as fit into `MOST_BYTES`. */
function fitted(groups: Suggestions['groups'], t: Texts): string {
  const count = groups.reduce((sum, { items }) => sum + items.length, 0);
  const body = JSON.stringify({ groups, status: t('find.suggestions', { count }) } satisfies Suggestions);
  if (Buffer.byteLength(body) <= MOST_BYTES) return body;
  return fitted([...groups.slice(0, -1), { ...groups.at(-1)!, items: groups.at(-1)!.items.slice(0, -1) }].filter(({ items }) => items.length > 0), t);
}

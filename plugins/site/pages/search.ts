import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Texts } from 'civic';
import type { CoveredPlace, EntityPage } from 'civic/directory';
import { shownEntries } from '../entries.ts';
import { paging } from '../paging.ts';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';
import { addressOf, apiQueryOf, chosenCount, withFilter, withoutFilter, type Asked, type Filter } from './query.ts';

const MOST_MATCHED = 3;
const SORTS = ['relevance', 'name', 'recent', 'source_count'] as const;
const TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'];
const FRESHNESS = ['fresh', 'aging', 'stale', 'unknown'];

const several = (item: Joi.StringSchema) => Joi.array().items(Joi.string().valid('').strip(), item).single().max(20).default([]);
const query = {
  query: Joi.string().trim().max(300).default(''),
  state: Joi.string().trim().max(50).uppercase(),
  place: several(Joi.string().max(200)),
  entity_type: several(Joi.string().valid(...TYPES)),
  issue_area: several(Joi.string().max(100)),
  freshness: several(Joi.string().valid(...FRESHNESS)),
  sort: Joi.string().valid(...SORTS).default('relevance'),
  exact: Joi.boolean().default(false),
  ...paging,
};

/** The page that searches entries, with filters to click. */
export function searchPage(site: Site): ServerRoute {
  const { directory } = site;
  return site.page({
    path: '/search',
    query,
    async load(request, t) {
      const { cursor, limit: _, ...asked } = request.query as unknown as Asked & { cursor?: string; limit: number };
      const { exact, query: words, state, ...filters } = asked;
      const names = await namesFor(site, asked, t);
      const [page, matched] = await Promise.all([
        directory.entities(request, {
          ...given(filters), query: words || undefined, state: state?.toLowerCase(), facets: true, hasFreshnessFacet: true, isExact: exact, sort: asked.sort,
        }),
        cursor === undefined && words !== '' ? matches(site, words, t) : null,
      ]);
      return shownPage(site, { asked, page, matched, names, isFirst: cursor === undefined }, t);
    },
  });
}

/** Leaves out filters without a value. */
function given(filters: Omit<Asked, 'query' | 'state' | 'exact'>): object {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value.length > 0));
}

interface Names {
  of(filter: Filter, value: string): string;
}

/** Returns the names of the values of filters; for an unknown value, the value itself. */
async function namesFor({ civic, directory }: Site, asked: Asked, t: Texts): Promise<Names> {
  const places = asked.place.length > 0 ? await directory.places(civic.db.read, asked.place) : new Map<string, { display_name: string }>();
  const issues = new Map((await directory.taxonomy()).flatMap(({ issue_areas }) => issue_areas.map((issue) => [issue.slug, translatedTopic(t, 'issue_areas', issue).name])));
  return {
    of(filter, value) {
      if (filter === 'entity_type') return t(`types.${value}`);
      if (filter === 'freshness') return t(`freshness.${value}`);
      if (filter === 'issue_area') return issues.get(value) ?? value;
      return filter === 'state' ? directory.stateName(value) ?? value : places.get(value)?.display_name ?? value;
    },
  };
}

interface Matched {
  places: { name: string; href: string; count: number }[];
  issues: { name: string; href: string; count: number }[];
}

/** Returns places and issues that the words name. */
async function matches({ directory }: Site, words: string, t: Texts): Promise<Matched> {
  const nameOf = (issue: { slug: string; name: string; description: string }): string => translatedTopic(t, 'issue_areas', issue).name;
  const [places, issues] = await Promise.all([directory.placesLike(words, MOST_MATCHED), directory.issuesLike(words, MOST_MATCHED, nameOf)]);
  const isNamed = ({ name, display_name }: CoveredPlace): boolean => [name, display_name].some((one) => one.toLowerCase() === words.toLowerCase()) || /^\d{5}$/.test(words);
  return {
    places: places.filter((place) => place.entity_count > 0 || isNamed(place)).map(({ display_name: name, place_key, entity_count: count }) => ({ name, href: `/places/${place_key}`, count })),
    issues: issues.map((issue) => ({ name: nameOf(issue), href: `/issues/${issue.slug}`, count: issue.entity_count })),
  };
}

interface Found {
  asked: Asked;
  page: EntityPage;
  matched: Matched | null;
  names: Names;
  isFirst: boolean;
}

async function shownPage(site: Site, { asked, page, matched, names, isFirst }: Found, t: Texts): Promise<LoadedPage> {
  const { query: words } = asked;
  return {
    template: 'search',
    context: {
      title: words ? t('search.title', { query: words }) : t('search.plain_title'), isUnlisted: true,
      query: words, total: page.total, isFirst, matched,
      corrected: page.corrected?.length ? shownCorrection(asked, page.corrected) : null,
      unknown: await shownSuggestions(site, asked, page, t),
      chosen: chosenFilters(asked, names),
      filterCount: chosenCount(asked),
      facets: shownFacets(asked, page, names, t),
      sorts: SORTS.filter((sort) => words || sort !== 'relevance').map((sort) => ({ name: t(`search.sorts.${sort}`), href: addressOf({ ...asked, sort }), isHere: sort === shownSort(asked) })),
      formats: shownFormats(asked),
      entries: shownEntries(page.data, t),
      next: page.next_cursor && `${addressOf(asked)}${addressOf(asked).includes('?') ? '&' : '?'}cursor=${page.next_cursor}`,
      hasFilters: chosenCount(asked) > 0,
      clear: addressOf({ ...asked, state: undefined, place: [], entity_type: [], issue_area: [], freshness: [] }),
    },
  };
}

/** Returns the sort order to show: without words, "best match" sorts by name. */
function shownSort({ query: words, sort }: Asked): string {
  return sort === 'relevance' && !words ? 'name' : sort;
}

function shownCorrection(asked: Asked, corrected: { from: string; to: string }[]): object {
  const to = new Map(corrected.map((one) => [one.from, one.to]));
  const words = asked.query.split(/\s+/).map((word) => to.get(word.toLowerCase()) ?? word).join(' ');
  return { to: words, from: asked.query, href: addressOf({ ...asked, exact: true }) };
}

/** Returns the filters with an unknown value, each with similar values. */
async function shownSuggestions({ civic, directory }: Site, asked: Asked, { suggestions = [] }: EntityPage, t: Texts): Promise<object[]> {
  const keys = suggestions.flatMap(({ parameter, did_you_mean }) => (parameter === 'place' ? did_you_mean : []));
  const names = await namesFor({ civic, directory } as Site, { ...asked, place: keys }, t);
  return suggestions.map(({ parameter, value, did_you_mean }) => ({
    value, isPlace: parameter === 'place',
    near: did_you_mean.map((other) => ({ name: names.of(parameter, other), href: addressOf(withFilter(withoutFilter(asked, parameter, value), parameter, other)) })),
  }));
}

const FILTERS = ['entity_type', 'issue_area', 'state', 'freshness', 'place'] as const satisfies Filter[];

function chosenFilters(asked: Asked, names: Names): object[] {
  return FILTERS.flatMap((filter) => [asked[filter] ?? []].flat().map((value) => ({ name: names.of(filter, value), href: addressOf(withoutFilter(asked, filter, value)) })));
}

/** Returns the facets. A facet with a chosen value shows only that value, because the counts of its other values include only entries that also have the chosen one. */
function shownFacets(asked: Asked, { facets }: EntityPage, names: Names, t: Texts): object[] {
  const shown = (['entity_type', 'issue_area', 'state', 'freshness'] as const).map((filter) => {
    const chosen = [asked[filter] ?? []].flat();
    const values = (facets?.[filter] ?? []).filter(({ value }) => chosen.length === 0 || chosen.includes(value)).map(({ value, count }) => ({
      name: names.of(filter, value), count, isChosen: chosen.includes(value), href: addressOf((chosen.includes(value) ? withoutFilter : withFilter)(asked, filter, value)),
    }));
    return { name: t(`search.facets.${filter}`), values: values.slice(0, 8), more: values.slice(8) };
  });
  return shown.filter(({ values }) => values.length > 0);
}

/** Returns the addresses of the same search as JSON, CSV and feed. A feed always has the latest changes first. */
function shownFormats(asked: Asked): { api: string; csv: string; feed: string } {
  const feed = `/api/entities/feed.atom?${apiQueryOf({ ...asked, sort: 'relevance' })}`.replace(/\?$/, '');
  const filters = apiQueryOf(asked);
  // Without any parameter the export is the whole directory, with its places and merged entries.
  return { api: filters ? `/api/entities?${filters}` : '/api/entities', csv: `/api/exports/entities?format=csv&${filters || 'sort=name'}`, feed };
}

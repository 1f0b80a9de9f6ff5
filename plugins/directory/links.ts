/** Paths of pages on which people read about the data of the directory. */
export interface PagePaths {
  actor(id: string): string;
  source(id: string): string;
  place(placeKey: string): string;
  issueArea(slug: string): string;
  /** `query` is the query string of a search, without its question mark. */
  search(query: string): string;
}

/** The URLs that feeds, calendars and other plugins give people: of a page where a plugin declares one, else of the API. */
export interface PageLinks extends PagePaths {
  /** Declares pages of public data. Called in `register`. */
  declare(paths: Partial<PagePaths>): void;
  /** The paths of declared pages, for links on pages, which may begin with a language. */
  pages: Readonly<Partial<PagePaths>>;
}

const API: PagePaths = {
  actor: (id) => `/api/entities/${id}`,
  source: (id) => `/api/sources/${id}`,
  place: (placeKey) => `/api/places/${placeKey}`,
  issueArea: (slug) => `/api/issue-areas/${slug}`,
  search: (query) => `/api/entities${query && `?${query}`}`,
};

export function createPageLinks(url: (path: string) => string): PageLinks {
  const pages: Partial<PagePaths> = {};
  const paths = { ...API };
  return {
    pages,
    declare(declared) {
      Object.assign(pages, declared);
      Object.assign(paths, declared);
    },
    actor: (id) => url(paths.actor(id)),
    source: (id) => url(paths.source(id)),
    place: (placeKey) => url(paths.place(placeKey)),
    issueArea: (slug) => url(paths.issueArea(slug)),
    search: (query) => url(paths.search(query)),
  };
}

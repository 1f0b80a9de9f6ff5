import { isWebUrl, type Reader, type Texts } from 'civic';
import type { ClaimValues, DirectoryService, Property } from 'civic/directory';

/** The names that values refer to. */
export interface Names {
  t: Texts;
  directory: DirectoryService;
  /** The names of places by key. */
  places: ReadonlyMap<string, string>;
}

interface Stated {
  property: string;
  value: unknown;
}

export interface ShownValue {
  text: string;
  /** The address of a web page on another site. */
  url?: string;
}

/** Reads the names of the places that claims state. */
export async function namesFor(directory: DirectoryService, reader: Reader, claims: Stated[], t: Texts): Promise<Names> {
  const keys = new Set(claims.flatMap(({ property, value }) => (property === 'place' ? [String(value)] : [])));
  const places = await directory.places(reader, [...keys]);
  return { t, directory, places: new Map([...places].map(([key, { display_name }]) => [key, display_name])) };
}

const plain = (text: string): ShownValue => ({ text });
const address = (text: string, url: string): ShownValue => ({ text, ...(isWebUrl(url) && { url }) });

const SHOWN: { [Name in Property]: (value: ClaimValues[Name], names: Names) => ShownValue } = {
  name: plain, description: plain, email: plain, phone: plain, event_location: plain,
  type: (type, { t }) => plain(t(`types.${type}`)),
  status: (status, { t }) => plain(t(`statuses.${status}`)),
  place: (key, { places }) => plain(places.get(key) ?? key),
  issue_area: (slug, { t, directory }) => plain(issueName(directory, slug, t)),
  website: (url) => address(url, url),
  social: ({ network, url }) => address(`${network}: ${url}`, url),
  identifier: ({ scheme, value }) => plain(`${scheme} ${value}`),
  affiliation: ({ name, role, since, until }) => plain([role, name, since || until ? `${since ?? ''}–${until ?? ''}` : null].filter(Boolean).join(', ')),
  event_start: (time, { t }) => plain(timeText(time, t)),
  event_end: (time, { t }) => plain(timeText(time, t)),
};

/** Returns the value of a claim as people read it. What pages state is shown as text; only addresses of web pages become links. */
export function shownValue({ property, value }: Stated, names: Names): ShownValue {
  return (SHOWN[property as Property] as (value: unknown, names: Names) => ShownValue)(value, names);
}

export function issueName(directory: DirectoryService, slug: string, t: Texts): string {
  return t.declared('directory', `issue_areas.${slug}.name`, directory.issueName(slug) ?? slug);
}

function timeText(time: string, t: Texts): string {
  return /T/.test(time) ? t.formatTime(time) : t.formatDate(time);
}

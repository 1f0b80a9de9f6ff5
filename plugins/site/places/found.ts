import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { singleLine, type Texts } from 'civic';
import type { Place } from 'civic/directory';
import type { LoadedPage, Site, SitePage } from '../site.ts';

const CANDIDATES = 12;
const LONGEST_TEXT = 200;

type LoadPlace = (place: Place, request: Request, t: Texts) => Promise<LoadedPage>;

/** Loads a page about the place in its path. Redirects from another name of the place to its key. When no place has the name, shows similar places with 404. */
export function ofPlace(site: Site, below: string, load: LoadPlace): SitePage['load'] {
  const { civic, directory } = site;
  return async (request, t, h) => {
    const text = String(request.params.place_key);
    const key = await directory.placeKey(civic.db.read, text);
    if (key === null) return noPlace(site, text, t, h);
    if (key !== text) return h.redirect(civic.url(`${request.civic.languagePrefix}/places/${encodeURI(key)}${below}${request.url.search}`)).permanent();
    return load((await directory.places(civic.db.read, [key])).get(key)!, request, t);
  };
}

async function noPlace({ directory }: Site, text: string, t: Texts, h: ResponseToolkit): Promise<ResponseObject> {
  const { places, isName } = text.length > LONGEST_TEXT ? { places: [], isName: false } : await directory.likelyPlaces(text, CANDIDATES);
  const name = singleLine(text, 100);
  const title = isName ? t('place.which', { name: places[0]!.name }) : t('place.unknown_text', { text: name });
  return h.view('site/no-place', {
    title, isUnlisted: true, isName, places: places.map((place) => ({ name: place.display_name, href: `/places/${place.place_key}` })),
  }).code(404).header('cache-control', 'no-store');
}

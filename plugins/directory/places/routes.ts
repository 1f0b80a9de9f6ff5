import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { conditional, Joi, listText, pageOf, problem, singleLine, textEtag, weakEtag, type Database, type ProblemKinds, type ReadyAnswers } from 'civic';
import { createHash } from 'node:crypto';
import { COVERED_POSITION, coveredList } from './covered.ts';
import { isAmbiguous } from './resolve.ts';
import { placeRecord, placesQuery, placesResponse, type PlaceList, type PlaceQuery } from './schemas.ts';
import type { PlaceRow, Places } from './service.ts';

export const placeProblems = {
  unknown_place: { status: 404, title: 'No such place', advice: 'Take one of did_you_mean, or ask /api/places?query= for it. A key is city-name,state-name in lower case with hyphens: kansas-city,missouri.' },
} satisfies ProblemKinds;

export interface PlaceRoutes {
  places: Places;
  db(): Database;
  ready: ReadyAnswers;
  /** Of the kit: another one may answer the same question differently. */
  version: string;
}

const SUGGESTIONS = 5;
/** No key, slug or OCD id is longer. */
const LONGEST_KEY = 200;

/** The place a path names, or the problem that says what it could have been. */
export async function placeOfPath(places: Places, db: Database, text: string): Promise<PlaceRow> {
  const found = await places.byKey(db.read, text);
  if (found) return found;
  const likely = await likelyKeys(places, db, text);
  const question = likely.length > 0 ? ` Did you mean ${likely.join(' or ')}?` : '';
  throw problem('unknown_place', {
    detail: `No place has the key "${singleLine(text, 100)}". A key is the name of the city, a comma and the name of its state, in lower case with hyphens, as in kansas-city,missouri; kansas-city-mo is the same.${question}`,
    extra: { did_you_mean: likely },
  });
}

/** Returns the keys of the places that a text which is no key may mean, likeliest first. */
export async function likelyKeys(places: Places, db: Database, text: string): Promise<string[]> {
  if (text.length > LONGEST_KEY) return [];
  const comma = text.lastIndexOf(',');
  // A slug has hyphens for the spaces before its state; the name before a comma keeps its own.
  const candidates = await places.resolve(db.read, text.slice(0, comma + 1) + text.slice(comma + 1).replaceAll('-', ' '), { limit: SUGGESTIONS });
  return candidates.map(({ place }) => place.place_key);
}

export function placeRoutes({ places, db, ready, version }: PlaceRoutes): ServerRoute[] {
  async function listCovered(request: Request, h: ResponseToolkit) {
    const page = pageOf<{ state?: string }>(request, COVERED_POSITION);
    return ready.answer(request, h, 'all', async () => {
      const { body, headers } = listText(request, page, await coveredList(places, db(), page));
      return { body, etag: textEtag(body), headers };
    });
  }

  return [
    {
      method: 'GET',
      path: '/api/places',
      options: {
        description: 'The places that have actors; with `query`, the places a free text may mean',
        notes: 'Without `query`, lists the places that have public actors in the order of their keys, each with `entity_count`. `query` takes "Kansas City, MO", "KCMO", "St. Louis", a ZIP code, a place key or an OCD id; candidates come likeliest first. `confidence` is 1 for a certain candidate; when `ambiguous` is true, ask before taking the first.',
        validate: { query: placesQuery },
        plugins: { civic: { conditional: true, problems: ['invalid_cursor'] } },
        ext: { onPostAuth: { method: ready.hit } },
        response: { schema: placesResponse },
      },
      handler: async (request, h) => {
        const { query, state, limit } = request.query as unknown as Partial<PlaceQuery> & { limit: number };
        if (query === undefined) return listCovered(request, h);
        const etag = weakEtag(version, await places.revision(db().read), hashOf(JSON.stringify([query, state, limit])));
        return conditional(request, h, { etag }, () => placeCandidates(places, db(), { query, state, limit }));
      },
    },
    {
      method: 'GET',
      path: '/api/places/{place_key}',
      options: {
        description: 'One place, by its key, its slug or another spelling of either',
        notes: 'Free text is not a key: it is 404 with `did_you_mean`. `Content-Location` has the canonical key.',
        validate: { query: Joi.object({}), params: Joi.object({ place_key: Joi.string() }) },
        plugins: { civic: { problems: ['unknown_place'], conditional: true } },
        response: { schema: placeRecord },
      },
      handler: async (request, h) => {
        const place = await placeOfPath(places, db(), String(request.params.place_key));
        const etag = weakEtag(version, await places.revision(db().read), place.key);
        return conditional(request, h, { etag, contentLocation: `/api/places/${place.place_key}` }, () => places.recordOf(place));
      },
    },
  ];
}

/** The places that a free text may mean, likeliest first. */
export async function placeCandidates(places: Places, db: Database, { query, state, limit }: PlaceQuery): Promise<PlaceList> {
  const candidates = await places.resolve(db.read, query, { state, limit });
  const data = candidates.map(({ place, confidence, reason }) => ({ ...places.recordOf(place), confidence, reason }));
  return { data, total: data.length, next_cursor: null, ambiguous: isAmbiguous(candidates) };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

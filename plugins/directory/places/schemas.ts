import { Joi } from 'civic';

export interface Place {
  place_key: string;
  slug: string | null;
  name: string;
  state: { name: string; abbreviation: string; slug: string } | null;
  county: string | null;
  country: string;
  kind: string;
  latitude: number | null;
  longitude: number | null;
  population: number | null;
  time_zone: string | null;
  ocd_id: string | null;
  display_name: string;
  url: string;
}

export interface PlaceCandidate extends Place {
  confidence: number;
  reason: string;
}

/** A place that has public actors. */
export interface CoveredPlace extends Place {
  entity_count: number;
}

export interface PlaceList {
  data: PlaceCandidate[];
  total: number;
  next_cursor: string | null;
  ambiguous: boolean;
}

export interface PlaceQuery {
  query: string;
  state?: string;
  limit: number;
}

const PLACE_KINDS = 'The legal type of a government: city (also for unincorporated places and abroad), town, village, borough, township, plantation, municipality, municipio, county (also parishes, boroughs and census areas of Alaska), state, territory; locality for a place that only the post office has. A place that the operator added may have another one';

const fields: Joi.StrictSchemaMap<Place> = {
  place_key: Joi.string().required().description('`kansas-city,missouri`; abroad `<city>,<division>`, or the country where its divisions have no names here'),
  slug: Joi.string().allow(null).required().description('`kansas-city-mo`; null for states and abroad'),
  name: Joi.string().required(),
  state: Joi.object<NonNullable<Place['state']>, true>({
    name: Joi.string().required(), abbreviation: Joi.string().required(), slug: Joi.string().required(),
  }).allow(null).required(),
  county: Joi.string().allow(null).required().description('The place key of the county that it lies in, in the US'),
  country: Joi.string().required().description('Two letters of ISO 3166'),
  kind: Joi.string().required().description(PLACE_KINDS),
  latitude: Joi.number().allow(null).required(),
  longitude: Joi.number().allow(null).required(),
  population: Joi.number().integer().allow(null).required(),
  time_zone: Joi.string().allow(null).required().description('The IANA name, as in America/Chicago'),
  ocd_id: Joi.string().allow(null).required().description('The id of the Open Civic Data division; for a place without a government, the id that it would have'),
  display_name: Joi.string().required(),
  url: Joi.string().required(),
};

export const placeRecord = Joi.object<Place, true>(fields).meta({ name: 'Place' });

const placeCandidate = Joi.object<PlaceCandidate, true>({
  ...fields,
  confidence: Joi.number().min(0).max(1).required().description('1 is certain'),
  reason: Joi.string().required().description('Why it is a candidate'),
}).meta({ name: 'PlaceCandidate' });

export const placeList = Joi.object<PlaceList, true>({
  data: Joi.array().items(placeCandidate).required(),
  total: Joi.number().integer().min(0).required(),
  next_cursor: Joi.string().allow(null).required().description('Always null: candidates are few'),
  ambiguous: Joi.boolean().required().description('Whether the first candidate may not be the one meant: ask. False when there is none.'),
}).meta({ name: 'PlaceList' });

const searched = Joi.string().trim().max(200).description('Free text: "Kansas City, MO", "KCMO", "St. Louis", a ZIP code, a place key, an OCD id');
const inState = Joi.string().trim().max(50).description('Abbreviation or name; only places in this state');

export const placeQuery = Joi.object<PlaceQuery, true>({
  query: searched.required(),
  state: inState,
  limit: Joi.number().integer().min(1).max(100).default(25).description('How many candidates at most'),
});

const coveredPlace = Joi.object<CoveredPlace, true>({ ...fields, entity_count: Joi.number().integer().min(1).required().description('Its public actors') }).meta({ name: 'CoveredPlace' });

const coveredPlaceList = Joi.object({
  data: Joi.array().items(coveredPlace).required(),
  total: Joi.number().integer().min(0).required(),
  next_cursor: Joi.string().allow(null).required(),
}).meta({ name: 'CoveredPlaceList' });

/** Candidates for a text, or the places that have actors. */
export const placesResponse = Joi.alternatives().try(placeList, coveredPlaceList).meta({ name: 'Places' });

export const placesQuery = Joi.object({
  query: searched,
  state: inState,
  limit: Joi.number().integer().min(1).max(100).default(25).description('How many places a page has, or how many candidates at most'),
  cursor: Joi.string().description('From `next_cursor`; enough by itself. Not with `query`, whose candidates are one page'),
}).without('cursor', 'query');

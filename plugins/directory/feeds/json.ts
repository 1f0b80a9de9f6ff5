import { Joi, jsonFeedHead, jsonFeedHeadSchema, jsonFeedItem, jsonFeedItemSchema } from 'civic';
import { actorDetailSchema } from '../actors/schemas.ts';
import type { ActorDetail, Claim, Source } from '../types.ts';
import { entryOf, isDemo, type ActorFeed } from './entry.ts';

/** JSON Feed 1.1; what it has no member for is under `_civic`. */
export interface JsonFeed extends ReturnType<typeof jsonFeedHead> {
  _civic: { about: string; id: string };
  items: JsonFeedItem[];
}

export interface JsonFeedItem extends ReturnType<typeof jsonFeedItem> {
  external_url?: string;
  _civic: Pick<ActorDetail, 'id' | 'type' | 'places' | 'issue_areas' | 'event' | 'status'> & { about: string; demo: boolean; claims: Claim[]; sources: Source[] };
}

const address = Joi.string().uri().required();
const member = (name: string) => actorDetailSchema.extract(name);

const itemSchema = Joi.object<JsonFeedItem>({
  ...jsonFeedItemSchema,
  id: Joi.string().required().description('`urn:uuid:` and the id of the actor'),
  external_url: Joi.string().description('The website of the actor'),
  _civic: Joi.object<JsonFeedItem['_civic']>({
    about: address,
    demo: Joi.boolean().required().description('Whether the actor was invented for the demo'),
    id: member('id'),
    type: member('type'),
    places: member('places'),
    issue_areas: member('issue_areas'),
    event: member('event'),
    status: member('status'),
    claims: member('claims'),
    sources: member('sources'),
  }).required(),
}).meta({ name: 'JsonFeedItem' });

export const jsonFeedSchema = Joi.object<JsonFeed>({
  ...jsonFeedHeadSchema,
  _civic: Joi.object({ about: address, id: Joi.string().required().description('A tag URI, which stays the same when the instance moves') }).required(),
  items: Joi.array().items(itemSchema).required(),
}).meta({ name: 'JsonFeed' }).description('JSON Feed 1.1 (https://jsonfeed.org/version/1.1)');

export function jsonFeed(feed: ActorFeed, about: string): JsonFeed {
  return { ...jsonFeedHead({ ...feed, entries: [] }), _civic: { about, id: feed.id }, items: feed.actors.map((actor) => itemOf(actor, about, feed)) };
}

function itemOf(actor: ActorDetail, about: string, feed: ActorFeed): JsonFeedItem {
  const { id, type, places, issue_areas, event, status, claims, sources } = actor;
  const demo = isDemo(actor);
  return {
    ...jsonFeedItem(entryOf(actor, feed), [...(demo ? ['demo'] : []), type, ...places.map(({ name }) => name), ...issue_areas]),
    ...(actor.contact.website && { external_url: actor.contact.website }),
    _civic: { about, demo, id, type, places, issue_areas, event, status, claims, sources },
  };
}

import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, pagePath, problem, textAnswer, textEtag, type Texts } from 'civic';
import type { Actor, Entry } from 'civic/directory';
import { placeName } from '../entries.ts';
import { isWholeDay } from '../places/events.ts';
import { hostOf, isWebAddress } from '../quotes.ts';
import type { LoadedPage, Site } from '../site.ts';
import { placeKeysIn, shownSource, shownStatements, sourceTitle } from '../statements.ts';
import { eventTime, shownPhone, type Referred } from '../values.ts';
import { translatedIssue } from '../words.ts';
import { shownRelated } from '../related.ts';

const MOST_RELATED = 6;
const MOST_SIGNALS = 5;
/** Further sources are in a `<details>` element. */
const MOST_OPEN_SOURCES = 10;
const MOST_LISTED_SOURCES = 200;
/** The most statements in the linked data: all of them would double the size of a long page, and search engines need only the best. */
const MOST_LINKED_CLAIMS = 50;

/** The page of an actor, which visitors know as an entry. */
export function actorPages(site: Site): ServerRoute[] {
  const { directory } = site;
  return [
    site.page({
      path: '/actors/{id}',
      query: { from: Joi.string().max(100) },
      async load(request, t, h) {
        const entry = await currentEntry(site, request, t, h);
        if (entry.state !== 'current') return entry.response;
        const { from } = request.query as { from?: string };
        const merged = from === undefined ? null : await directory.mergedEntry(entry.actor.id, from);
        if (from !== undefined && !merged) return h.redirect(pagePath(request, `/actors/${entry.actor.id}`));
        return actorPage(site, entry, request, t, merged && { name: merged.name, date: t.formatDate(merged.at) });
      },
    }),
    site.page({
      path: '/actors/{id}/event.ics',
      async load(request, t, h) {
        const entry = await currentEntry(site, request, t, h, '/event.ics');
        if (entry.state !== 'current') return entry.response;
        const { actor } = entry;
        if (!actor.event?.start) throw problem('not_found');
        const body = directory.eventCalendar(actor, `/actors/${actor.id}/event.ics`);
        const headers = { 'content-disposition': `attachment; filename="${actor.slug.replace(/[^\w-]/g, '') || 'event'}.ics"` };
        return textAnswer(request, h, { body, etag: textEtag(body), type: 'text/calendar; charset=utf-8', cacheControl: 'no-cache', headers });
      },
    }),
  ];
}

/** Returns the actor of a path; for a merged actor a redirect to its successor, or to its `file` of the same name, for a deleted one a response with 410. */
export async function currentEntry({ directory }: Site, request: Request, t: Texts, h: ResponseToolkit, file?: string): Promise<Entry | { state: 'former'; response: ResponseObject }> {
  const id = String(request.params.id);
  const entry = await directory.entry(id);
  if (!entry) throw problem('not_found');
  if (entry.state === 'current') return entry;
  if (entry.state === 'merged') {
    const response = h.redirect(pagePath(request, `/actors/${entry.into}${file ?? `?from=${id.toLowerCase()}`}`)).code(301).header('cache-control', 'max-age=3600');
    return { state: 'former', response };
  }
  const response = h.view('site/gone', { title: t('gone.title'), isUnlisted: true, date: t.formatDate(entry.at) }).code(410);
  return { state: 'former', response };
}

async function actorPage(site: Site, entry: Entry, request: Request, t: Texts, merged: object | null): Promise<LoadedPage> {
  const { civic, directory, firehose } = site;
  const { actor, values, ids, changes } = entry;
  const now = civic.clock.now();
  const referred = await referredBy(site, entry, t, actor.places[0]?.place_key);
  const path = `/actors/${actor.id}`;
  const [place] = actor.places;
  const type = t(`types.${actor.type}`);
  const { claims, sources } = actor;
  return {
    template: 'actor',
    validUntil: changesAt(actor, now),
    context: {
      title: place ? t('actor.title', { name: actor.name, type, place: place.name }) : t('actor.title_without_place', { name: actor.name, type }),
      description: actor.description ?? t('actor.meta', { name: actor.name, count: actor.source_count }),
      canonical: path,
      linkedData: directory.linkedActor({ ...actor, claims: claims.slice(0, MOST_LINKED_CLAIMS) }),
      crumbs: place ? [{ name: t('actor.places'), href: '/places' }, { name: placeName(place), href: `/places/${place.place_key}` }] : [{ name: t('actor.places'), href: '/places' }],
      merged,
      name: actor.name,
      type,
      status: isCancelled(actor) ? t('actor.cancelled') : t(`statement.status.${actor.status}`),
      inactive: inactiveWords(entry, t),
      about: actor.description,
      otherNames: otherNames(entry),
      places: actor.places.map((one) => ({ name: placeName(one), href: `/places/${one.place_key}` })),
      issues: actor.issue_areas.map((slug) => ({ name: translatedIssue(t, slug, directory.issueName(slug) ?? slug), href: `/issues/${slug}` })),
      freshness: { status: actor.freshness.status, words: t(`freshness.${actor.freshness.status}`) },
      seen: actor.freshness.last_seen_at && t('actor.seen', { date: t.formatDate(actor.freshness.last_seen_at) }),
      sourceCount: t('entry.sources', { count: actor.source_count }),
      sourceTotal: actor.source_count,
      hasOneSource: actor.source_count === 1,
      contact: contactOf(actor),
      event: eventOf(actor, referred, now),
      properties: shownStatements(values, referred),
      related: (await directory.related(actor.id, null, MOST_RELATED)).map((related) => shownRelated(related, referred)),
      signals: firehose ? (await firehose.signalsAbout(ids, MOST_SIGNALS)).map((signal) => ({
        title: signal.title, date: t.formatDate(signal.detected_at), source: signalSource(signal.evidence[0]),
      })) : [],
      signalsPath: firehose && place ? `/signals?place=${encodeURIComponent(place.place_key)}` : null,
      sources: sources.slice(0, MOST_OPEN_SOURCES).map((source) => shownSource(source, t)),
      furtherSources: sources.slice(MOST_OPEN_SOURCES, MOST_LISTED_SOURCES).map((source) => shownSource(source, t)),
      unlistedSources: Math.max(0, sources.length - MOST_LISTED_SOURCES),
      history: { href: `${path}/history`, words: t('actor.changes', { count: changes.count, last: changes.last_at ? t.formatDate(changes.last_at) : '' }) },
      api: `/api/entities/${actor.id}`,
      more: await civic.pages.parts('site.entry', request),
    },
  };
}

/** Returns what the values of an actor refer to; the times of an event are those of the place `home`. */
export async function referredBy({ civic, directory }: Site, { values, affiliated }: Pick<Entry, 'values' | 'affiliated'>, t: Texts, home?: string): Promise<Referred> {
  const places = await directory.places(civic.db.read, placeKeysIn(values));
  const timeZone = home === undefined ? undefined : places.get(home)?.time_zone ?? undefined;
  return { t, affiliated, timeZone, now: civic.clock.now(), issueName: directory.issueName, places: new Map([...places].map(([key, { display_name: name }]) => [key, name])) };
}

function otherNames({ actor, values }: Entry): string[] {
  return values.filter(({ property, isCurrent, value }) => property === 'name' && isCurrent && value !== actor.name).map(({ value }) => String(value)).slice(0, MOST_RELATED);
}

const isCancelled = ({ type, status }: Actor): boolean => type === 'event' && status === 'inactive';

/** Returns a sentence that names the source which states that an actor is no longer active. */
function inactiveWords({ actor, values }: Entry, t: Texts): string | null {
  if (actor.status !== 'inactive') return null;
  const stated = values.find(({ property, value, isCurrent }) => property === 'status' && value === 'inactive' && isCurrent);
  return stated ? t(isCancelled(actor) ? 'actor.cancelled_by' : 'actor.inactive', { source: sourceTitle(stated.claims[0]!.source) }) : null;
}

function contactOf({ contact: { phone, email, website } }: Actor): { text: string; url: string }[] {
  return [
    ...phone && /^\+\d[\d ]+$/.test(phone) ? [{ text: shownPhone(phone), url: `tel:${phone.replaceAll(' ', '')}` }] : [],
    ...email && /^[^\s@?&]+@[^\s@?&]+$/.test(email) ? [{ text: email, url: `mailto:${email}` }] : [],
    ...website && isWebAddress(website) ? [{ text: hostOf(website), url: website }] : [],
  ];
}

/** Returns when and where an event takes place; null for other actors. */
function eventOf(actor: Actor, referred: Referred, now: number) {
  const { event } = actor;
  if (!event?.start) return null;
  return { at: event.start, when: eventTime(event.start, referred), location: event.location, isOver: endOf(event) < now, calendar: isCancelled(actor) ? null : `/actors/${actor.id}/event.ics` };
}

const DAY_MS = 86_400_000;

/** Returns when an event ends: after a whole day, and without a stated end a day after its start. */
function endOf({ start, end }: { start: string | null; end: string | null }): number {
  const known = Date.parse(end ?? '');
  if (Number.isNaN(known)) return Date.parse(start ?? '') + DAY_MS;
  return isWholeDay(end!) ? known + DAY_MS : known;
}

/** Returns when the page of an event expires: at the end of the event. */
function changesAt({ event }: Actor, now: number): number | undefined {
  const end = event ? endOf(event) : Number.NaN;
  return end > now ? end : undefined;
}

function signalSource(evidence: { source_url: string; title: string | null; publisher: string | null } | undefined): { url: string; name: string } | null {
  if (!evidence || !isWebAddress(evidence.source_url)) return null;
  return { url: evidence.source_url, name: evidence.publisher ?? hostOf(evidence.source_url) };
}

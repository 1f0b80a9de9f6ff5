import type { Request, ServerRoute } from '@hapi/hapi';
import { cutText, type Texts } from 'civic';
import type { Actor, CoveredPlace, ListedMeeting, StateCount, TaxonomyDomain } from 'civic/directory';
import type { Signal } from 'civic/firehose';
import { nextChange } from '../places/events.ts';
import type { LoadedPage, Site } from '../site.ts';
import { linkOf, translatedTopic } from '../words.ts';
import { stateMap } from './map.ts';

const MOST_PLACES = 12;
const MOST_EVENTS = 5;
const MOST_STATES = 8;
const MOST_SIGNALS = 5;
const MOST_ISSUES = 4;
const LONGEST_TITLE = 140;

/** The home page. */
export function homePage(site: Site): ServerRoute {
  return site.page({
    path: '/',
    async load(request, t) {
      const { directory } = site;
      const [totals, meetings, signals] = await Promise.all([directory.totals(), directory.comingMeetings(null, MOST_EVENTS), latestSignals(site)]);
      if (totals.actors === 0) return pageWithoutEntries(site, request, t, meetings, signals);
      const [places, entered, domains, states] = await Promise.all([
        directory.largestPlaces(MOST_PLACES), directory.upcomingEvents(MOST_EVENTS), directory.taxonomy(), directory.stateCounts(),
      ]);
      const known = await placesOf(site, entered, signals, meetings);
      const events = [...entered.map((event) => shownEvent(event, known)), ...meetings.map((meeting) => shownMeeting(meeting, known))].toSorted((a, b) => (a.start < b.start ? -1 : 1)).slice(0, MOST_EVENTS);
      const [onlyPlace] = totals.places === 1 ? places : [];
      return {
        template: 'home',
        context: {
          ...around(site, t),
          hasEntries: true, totals, onlyPlace: onlyPlace?.display_name,
          places: places.map(shownPlace), morePlaces: totals.places > places.length,
          ...shownStates(states, t),
          events,
          signals: signals.map((signal) => shownSignal(signal, known)),
          topics: domains.map((domain) => shownTopic(domain, t)),
        },
        // The page lists coming events, so it expires when the first one begins.
        validUntil: nextChange(events),
      };
    },
  });
}

function around({ civic }: Site, t: Texts): LoadedPage['context'] {
  const { name, public_url: url } = civic.instance;
  return {
    about: shownOperator(civic), title: '', description: t('home.description'), canonical: '/',
    linkedData: {
      '@context': 'https://schema.org', '@type': 'WebSite', name, url: `${url}/`, inLanguage: t.language,
      potentialAction: { '@type': 'SearchAction', target: { '@type': 'EntryPoint', urlTemplate: `${url}/search?query={query}` }, 'query-input': 'required name=query' },
    },
  };
}

/** Loads the home page of an instance without entries: what watched sources state or a notice for visitors, and the next steps for administrators. */
async function pageWithoutEntries(site: Site, { auth }: Request, t: Texts, meetings: ListedMeeting[], signals: Signal[]): Promise<LoadedPage> {
  const known = await placesOf(site, [], signals, meetings);
  const events = meetings.map((meeting) => shownMeeting(meeting, known));
  return {
    template: 'home',
    context: {
      ...around(site, t), isEmpty: meetings.length === 0 && signals.length === 0, isAdmin: auth.isAuthenticated && auth.credentials['role'] === 'admin',
      events, signals: signals.map((signal) => shownSignal(signal, known)),
    },
    validUntil: nextChange(events),
  };
}

function shownOperator({ config: { about, operator, contact } }: Site['civic']): object | null {
  if (!about && !operator && !contact) return null;
  return { about, operator, contact: linkOf(contact) };
}

function shownPlace({ display_name: name, place_key, entity_count: count }: CoveredPlace): object {
  return { name, href: `/places/${place_key}`, count };
}

/** Returns the map and the states with the most entries; neither when no entry is in a state. */
function shownStates(states: StateCount[], t: Texts): { map?: object; states?: object[] } {
  const covered = states.filter(({ entity_count }) => entity_count > 0).sort((a, b) => b.entity_count - a.entity_count);
  if (covered.length === 0) return {};
  return { map: stateMap(states, t), states: covered.slice(0, MOST_STATES).map(({ name, place_key, entity_count: count }) => ({ name, href: `/places/${place_key}`, count })) };
}

interface HomeEvent {
  name: string;
  /** Of an entry; a meeting that is none has the address of its source. */
  href?: string;
  url?: string;
  start: string;
  timeZone: string | undefined;
  place: { name: string; href: string } | undefined;
}

function shownEvent({ id, name, places: [place], event }: Actor, known: KnownPlaces): HomeEvent {
  const timeZone = known.get(place?.place_key ?? '')?.time_zone ?? undefined;
  return { name, href: `/actors/${id}`, start: event!.start!, timeZone, place: place && { name: place.name, href: `/places/${place.place_key}` } };
}

function shownMeeting({ title, url, start, place_key: key }: ListedMeeting, known: KnownPlaces): HomeEvent {
  const place = known.get(key ?? '');
  return { name: cutText(title, LONGEST_TITLE), url, start, timeZone: place?.time_zone ?? undefined, place: place && { name: place.name, href: `/places/${place.place_key}` } };
}

function shownTopic(domain: TaxonomyDomain, t: Texts): object {
  const used = domain.issue_areas.filter(({ entity_count }) => entity_count > 0).sort((a, b) => b.entity_count - a.entity_count);
  return {
    name: translatedTopic(t, 'domains', domain).name, href: `/domains/${domain.slug}`,
    issues: used.slice(0, MOST_ISSUES).map((issue) => ({ name: translatedTopic(t, 'issue_areas', issue).name, href: `/issues/${issue.slug}`, count: issue.entity_count })),
  };
}

async function latestSignals({ firehose }: Site): Promise<Signal[]> {
  return firehose ? (await firehose.signals({ hasUpkeep: false, visibility: 'public', limit: MOST_SIGNALS }, null)).signals : [];
}

type KnownPlaces = Awaited<ReturnType<Site['directory']['places']>>;

/** Returns the first place of each event, signal and meeting. */
async function placesOf({ civic, directory }: Site, events: Actor[], signals: Signal[], meetings: ListedMeeting[]): Promise<KnownPlaces> {
  const keys = [...events.flatMap(({ places: [place] }) => place?.place_key ?? []), ...signals.flatMap(({ places: [key] }) => key ?? []), ...meetings.flatMap(({ place_key: key }) => key ?? [])];
  return directory.places(civic.db.read, [...new Set(keys)]);
}

function shownSignal({ title, detected_at: at, places: [key], actors }: Signal, known: KnownPlaces): object {
  const place = known.get(key ?? '');
  const actor = actors.find(({ id }) => id !== null);
  return {
    title: cutText(title, LONGEST_TITLE),
    href: actor ? `/actors/${actor.id}` : null, at,
    place: place && { name: place.name, href: `/places/${place.place_key}` },
  };
}

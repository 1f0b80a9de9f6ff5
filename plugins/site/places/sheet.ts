import { cutText, type Texts } from 'civic';
import type { KnownSource, NamedActor, Place, Topic } from 'civic/directory';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';
import { eventsOf, overviewOf } from './area.ts';
import { shownEvents, type ShownEvent } from './events.ts';
import { fullName, hrefOf } from './words.ts';

const NAMES = 26;
const NAMES_OF_ISSUE = 2;
const EVENTS = 5;
const MISSING = 16;
/** What fits on one printed page: the lines of both columns together, and the characters of a line. */
const LINES = 126;
const LINE_CHARACTERS = 48;
const LONGEST = 80;

interface Chosen {
  actor: NamedActor;
  topic: string;
}

interface Cited {
  title: string | null;
  published_at: string | null;
  url: string;
}

/** Loads the page to print: whom to ask in a place, with sources. It has fewer names when they are long, so that all fit on one sheet. */
export async function sheetPage(site: Site, place: Place, t: Texts): Promise<LoadedPage> {
  const { civic, directory } = site;
  const name = fullName(place);
  const [domains, overview] = [directory.topics(), await overviewOf(site, place, NAMES_OF_ISSUE)];
  const coming = shownEvents(await eventsOf(site, place, EVENTS), await directory.comingMeetings([place.place_key], EVENTS), place.time_zone).slice(0, EVENTS);
  const candidates = byTopic(domains, (slug) => overview.issues.get(slug)?.actors ?? [], t);
  const known = await directory.actors(civic.db.read, choose(candidates, NAMES).map(({ actor }) => actor.id));
  const cited = new Map(known.flatMap(({ id, sources: [first] }) => (first ? [[id, first] as const] : [])));
  const missing = domains.flatMap((domain) => domain.issue_areas).filter(({ slug }) => !overview.issues.has(slug)).map((area) => translatedTopic(t, 'issue_areas', area).name);
  const events = coming.map((event) => ({ ...event, name: cutText(event.name, LONGEST), location: event.location && cutText(event.location, LONGEST) }));
  const around = linesOf(missing.slice(0, MISSING).join(', ')) + events.reduce((sum, event) => sum + linesOfEvent(event), 0);
  let chosen = choose(candidates, NAMES);
  for (let count = NAMES - 1; around + linesOfNames(chosen, cited) > LINES && count > 0; count--) chosen = choose(candidates, count);
  const sources = [...new Map(chosen.flatMap(({ actor }) => cited.get(actor.id) ?? []).map((source) => [source.id, shownSource(source)]))];
  const numberOf = (id: string | undefined): number | null => sources.findIndex(([source]) => source === id) + 1 || null;
  return {
    template: 'sheet',
    context: {
      title: t('sheet.title', { place: name }), isUnlisted: true, name, href: hrefOf(place.place_key),
      url: civic.url(hrefOf(place.place_key)), today: civic.clock.iso(), events,
      topics: [...new Set(chosen.map(({ topic }) => topic))].map((topic) => ({
        name: topic,
        rows: chosen.filter((one) => one.topic === topic).map(({ actor }) => ({ name: cutText(actor.name, LONGEST), phone: actor.phone && spacedPhone(actor.phone), note: numberOf(cited.get(actor.id)?.id) })),
      })),
      more: Math.max(0, overview.entity_count - chosen.length),
      missing: missing.slice(0, MISSING), moreMissing: Math.max(0, missing.length - MISSING),
      sources: sources.map(([, source]) => source),
    },
  };
}

/** Returns the actors of each topic. An actor is listed once, under its first issue. */
function byTopic(domains: Topic[], actorsOf: (slug: string) => NamedActor[], t: Texts): Chosen[][] {
  const seen = new Set<string>();
  return domains.map((domain) => domain.issue_areas.flatMap(({ slug }) => actorsOf(slug).flatMap((actor): Chosen[] => {
    if (seen.has(actor.id)) return [];
    seen.add(actor.id);
    return [{ actor, topic: translatedTopic(t, 'domains', domain).name }];
  })));
}

/** Returns `count` actors, taken from the topics in turn, and sorted by topic. */
function choose(topics: Chosen[][], count: number): Chosen[] {
  const inTurn = topics.flatMap((some, topic) => some.map((one, turn) => ({ one, turn, topic }))).sort((a, b) => a.turn - b.turn || a.topic - b.topic);
  return inTurn.slice(0, count).sort((a, b) => a.topic - b.topic || a.turn - b.turn).map(({ one }) => one);
}

const linesOf = (text: string): number => Math.ceil(text.length / LINE_CHARACTERS);
const linesOfEvent = ({ name, location }: ShownEvent): number => 1.3 + linesOf(name) + (location ? linesOf(location) : 0);

/** Estimates how many lines the names, their sources and the headings of topics take. */
function linesOfNames(chosen: Chosen[], cited: Map<string, KnownSource>): number {
  const headings = new Set(chosen.map(({ topic }) => topic)).size * 1.5;
  const sources = new Map(chosen.flatMap(({ actor }) => cited.get(actor.id) ?? []).map((source) => [source.id, shownSource(source)]));
  const names = chosen.reduce((sum, { actor: { name, phone } }) => sum + linesOf(`${cutText(name, LONGEST)} ${phone ?? ''} [00]`), 0);
  return headings + names + [...sources.values()].reduce((sum, { title, published_at: published, url }) => sum + 0.9 * linesOf(`${title ?? ''}, ${published ? 'Nov 16, 2026, ' : ''}${url}`), 0);
}

function shownSource({ title, publication, published_at, url }: KnownSource): Cited {
  const name = title ?? publication;
  return { title: name && cutText(name, LONGEST), published_at, url: cutText(url.replace(/^https?:\/\/(www\.)?/, ''), LONGEST) };
}

/** Formats a North American number: "(816) 555-0160" for "+18165550160". Returns other numbers unchanged. */
function spacedPhone(phone: string): string {
  return phone.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '($1) $2-$3');
}

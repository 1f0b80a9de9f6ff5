import type { Texts } from 'civic';
import type { NamedActor, Place, Topic } from 'civic/directory';
import type { LoadedPage, Site } from '../site.ts';
import { translatedTopic } from '../words.ts';
import { eventsOf, overviewOf } from './area.ts';
import { shownEvents } from './events.ts';
import { fullName, hrefOf } from './words.ts';

/** What fits on one page. */
const NAMES = 26;
const NAMES_OF_ISSUE = 2;
const EVENTS = 5;
const MISSING = 16;

interface Row {
  name: string;
  issue: string;
  phone: string | null;
  note: number | null;
}

/** Loads a page to print: whom to ask in a place, with the sources. */
export async function sheetPage(site: Site, place: Place, t: Texts): Promise<LoadedPage> {
  const { civic, directory } = site;
  const name = fullName(place);
  const [domains, overview, events] = [directory.topics(), await overviewOf(site, place, NAMES_OF_ISSUE), await eventsOf(site, place, EVENTS)];
  const chosen = chosenActors(domains, (slug) => overview.issues.get(slug)?.actors ?? []);
  const known = await directory.actors(civic.db.read, chosen.map(({ actor }) => actor.id));
  const cited = new Map(known.map(({ id, sources: [first] }) => [id, first]));
  const numbers = new Map([...new Map([...cited.values()].flatMap((source) => (source ? [[source.id, source]] : []))).values()].map((source, at) => [source.id, { number: at + 1, ...source }]));
  const rowOf = ({ actor, issue }: Chosen): Row => ({ name: actor.name, issue, phone: actor.phone && spacedPhone(actor.phone), note: numbers.get(cited.get(actor.id)?.id ?? '')?.number ?? null });
  const missing = domains.flatMap((domain) => domain.issue_areas).filter(({ slug }) => !overview.issues.has(slug)).map((area) => translatedTopic(t, 'issue_areas', area).name);
  return {
    template: 'sheet',
    context: {
      title: t('sheet.title', { place: name }), isUnlisted: true, name, href: hrefOf(place.place_key),
      url: civic.url(hrefOf(place.place_key)), today: civic.clock.iso(),
      events: shownEvents(events, place.time_zone),
      topics: [...new Set(chosen.map(({ topic }) => topic))].map((topic) => ({ name: topic, rows: chosen.filter((one) => one.topic === topic).map(rowOf) })),
      more: Math.max(0, overview.entity_count - chosen.length),
      missing: missing.slice(0, MISSING), moreMissing: Math.max(0, missing.length - MISSING),
      sources: [...numbers.values()].map(({ title, publication, published_at, url }) => ({ title: title ?? publication, published_at, url: url.replace(/^https?:\/\/(www\.)?/, '') })),
    },
  };

  interface Chosen {
    actor: NamedActor;
    topic: string;
    issue: string;
  }

  /** Each entry once, under the first issue that it works on; as many of each topic as there is room for. */
  function chosenActors(all: Topic[], actorsOf: (slug: string) => NamedActor[]): Chosen[] {
    const seen = new Set<string>();
    const byTopic = all.map((domain) => domain.issue_areas.flatMap((area) => actorsOf(area.slug).flatMap((actor): Chosen[] => {
      if (seen.has(actor.id)) return [];
      seen.add(actor.id);
      return [{ actor, topic: translatedTopic(t, 'domains', domain).name, issue: translatedTopic(t, 'issue_areas', area).name }];
    })));
    let most = 1;
    const chosen = () => byTopic.map((some) => some.slice(0, most));
    while (chosen().flat().length < Math.min(NAMES, byTopic.flat().length)) most++;
    return chosen().flat().slice(0, NAMES);
  }
}

/** "(816) 555-0160" for "+18165550160"; other numbers as they are. */
function spacedPhone(phone: string): string {
  return phone.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '($1) $2-$3');
}

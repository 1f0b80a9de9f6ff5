import { slugOf } from '../places/names.ts';
import { dayInWords, entry, page, say, type Desk, type Entry } from './pages.ts';
import { PAPERS, townSite, yearOf, type Organization } from './organizations.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
// The valley keeps one clock all year, five hours behind Greenwich.
const OFFSET = 5 * HOUR;

interface Series {
  /** A kind of organization, see kinds.ts. */
  by: string;
  title: string;
  room: string;
  /** Of the week, from Sunday, and of the day, in local time. */
  day: number;
  hour: number;
  hours: number;
  /** How many weeks lie between two, and how many there are before and after now. */
  every: number;
  past: number;
  coming: number;
  area: string;
  text: string;
}

const SERIES: Series[] = [
  { by: 'council', title: 'Regular meeting', room: 'Council room', day: 2, hour: 18.5, hours: 2.5, every: 4, past: 1, coming: 2, area: 'local_government_and_civic_engagement', text: 'Public comment comes first.' },
  { by: 'planning', title: 'Public hearing on the zoning map', room: 'Council room', day: 3, hour: 19, hours: 2, every: 6, past: 1, coming: 1, area: 'zoning_and_land_use', text: 'Maps are on view an hour before.' },
  { by: 'schools', title: 'School board meeting', room: 'High school library', day: 1, hour: 18, hours: 2, every: 4, past: 1, coming: 1, area: 'education_funding_and_policy', text: 'The levy is on the agenda.' },
  { by: 'pantry', title: 'Food distribution', room: 'Side entrance', day: 6, hour: 9, hours: 3, every: 2, past: 0, coming: 1, area: 'sustainable_agriculture_and_food_systems', text: 'Bring bags; no papers are asked.' },
  { by: 'river', title: 'River clean-up', room: 'Boat ramp', day: 6, hour: 8.5, hours: 4, every: 8, past: 1, coming: 1, area: 'environmental_justice_and_pollution', text: 'Gloves and coffee are there.' },
  { by: 'commissioners', title: 'County board meeting', room: 'Commissioners’ room', day: 3, hour: 10, hours: 2, every: 4, past: 2, coming: 2, area: 'local_government_and_civic_engagement', text: 'Minutes follow within a week.' },
  { by: 'transit', title: 'Hearing on line 7', room: 'Depot', day: 4, hour: 17.5, hours: 1.5, every: 9, past: 1, coming: 1, area: 'public_transit', text: 'Riders speak first.' },
  { by: 'voters', title: 'Candidate forum', room: 'Gymnasium', day: 0, hour: 15, hours: 2, every: 10, past: 1, coming: 1, area: 'political_polarization_and_democratic_norms', text: 'Every candidate gets the same questions.' },
  { by: 'library', title: 'Help with devices', room: 'Reading room', day: 4, hour: 14, hours: 2, every: 3, past: 0, coming: 1, area: 'broadband_access_and_digital_divide', text: 'Bring the phone that puzzles you.' },
  { by: 'tenants', title: 'Renters’ assembly', room: 'Basement', day: 4, hour: 19, hours: 1.5, every: 5, past: 1, coming: 1, area: 'housing_affordability', text: 'Children are welcome.' },
  { by: 'clinic', title: 'Vaccination Saturday', room: 'Waiting room', day: 6, hour: 10, hours: 5, every: 7, past: 1, coming: 1, area: 'community_health_infrastructure', text: 'Free, no appointment.' },
  { by: 'college', title: 'Job and apprenticeship fair', room: 'Fieldhouse', day: 5, hour: 11, hours: 5, every: 20, past: 1, coming: 1, area: 'vocational_and_alternative_pathways', text: 'Sixty employers, nine unions.' },
];

/** Meetings around now, past and coming, each with a calendar entry, an agenda and now and then a notice in the paper. */
export function writeMeetings(desk: Desk, organizations: Organization[]): void {
  for (const series of SERIES) {
    for (const by of organizations.filter(({ kind }) => kind.key === series.by)) {
      const first = firstAfter(desk, series) + desk.random.between(0, series.every - 1) * 7 * DAY;
      for (let turn = -series.past; turn < series.coming; turn++) writeMeeting(desk, series, by, first + turn * series.every * 7 * DAY);
    }
  }
}

function firstAfter({ now }: Desk, { day, hour }: Series): number {
  const local = now - OFFSET;
  const midnight = Math.floor(local / DAY) * DAY;
  // Day 0 of the epoch was a Thursday.
  const ahead = (day - (Math.floor(local / DAY) + 4) % 7 + 7) % 7;
  return midnight + (ahead || 7) * DAY + hour * HOUR + OFFSET;
}

const when = new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric', hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });

function writeMeeting(desk: Desk, series: Series, by: Organization, start: number): void {
  const { random } = desk;
  const { town } = by;
  const day = new Date(start - OFFSET).toISOString().slice(0, 10);
  const date = dayInWords(`${day}T12:00:00.000Z`);
  const name = `${by.entry.name}: ${series.title}, ${date}`;
  const who = entry(desk, 'event', `event/${series.by}/${slugOf(town.name)}/${day}`, name);
  const isPast = start < desk.now;
  const seen = isPast ? Math.ceil((desk.now - start) / DAY) + 3 : random.between(1, 9);
  who.age = seen;
  const location = `${series.room}, ${by.address}`;
  const time = when.format(new Date(start - OFFSET));
  const [from, to] = [new Date(start).toISOString(), new Date(start + series.hours * HOUR).toISOString()];

  const calendar = page(desk, { url: `${by.site}/calendar/${day}`, title: `${series.title}, ${date}`, publication: townSite(town), kind: 'government_record', method: 'structured', read: seen });
  say(desk, calendar, who, `${name}.`, [['name', name], ['affiliation', { entity_id: by.entry.id, name: by.entry.name, role: 'organizer', since: null, until: null }]]);
  say(desk, calendar, who, `${time}, ${location}. ${series.text}`, [['event_start', from], ['event_end', to], ['event_location', location], ['place', town.place_key], ['description', series.text]]);
  say(desk, calendar, who, `In the demonstration register this is ${who.key}.`, [['identifier', { scheme: 'demo', value: who.key }]]);

  const agenda = page(desk, { url: `${by.site}/agendas/${day}.pdf`, title: `Agenda, ${series.title}, ${date}`, publication: townSite(town), kind: 'government_record', method: 'rules', published: seen + 4, read: seen });
  say(desk, agenda, who, `Agenda of ${name}: call to order, minutes, ${series.area.replaceAll('_', ' ')}, comments, adjournment.`, [['name', name], ['issue_area', series.area]]);
  if (!isPast && random.chance(0.06)) say(desk, calendar, who, `Cancelled: the ${series.title.toLowerCase()} of ${date} will not take place.`, [['status', 'inactive']]);
  if (random.chance(0.5)) writeNotice(desk, { who, by, seen, from, time, location });
}

interface Announced {
  who: Entry;
  by: Organization;
  seen: number;
  from: string;
  time: string;
  location: string;
}

/** The paper announces it; sometimes it has another room than the agenda, which is left open until somebody asked. */
function writeNotice(desk: Desk, { who, by, seen, from, time, location }: Announced): void {
  const { random } = desk;
  const paper = random.pick(PAPERS);
  const notice = page(desk, { url: `https://www.${paper.host}/${yearOf(desk, seen)}/notices/${slugOf(who.key.slice(6))}`, title: `Notice: ${who.name}`, publication: paper.name, kind: 'news_article', method: 'manual', published: seen + 2, read: seen });
  say(desk, notice, who, `Notice is given of ${who.name}.`, [['name', who.name], ['place', by.town.place_key]]);
  const other = `Fire station, 1 ${by.town.streets.at(-1)!}, ${by.town.name}`;
  if (random.chance(0.15)) say(desk, notice, who, `It was moved to the ${other[0]!.toLowerCase()}${other.slice(1)}.`, [['event_location', other]], { status: 'disputed', confidence: 0.4 });
  else say(desk, notice, who, `It begins on ${time} in the ${location[0]!.toLowerCase()}${location.slice(1)}.`, [['event_start', from], ['event_location', location]]);
}

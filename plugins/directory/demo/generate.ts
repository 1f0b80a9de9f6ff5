import type { OwnPlace } from '../places/service.ts';
import { createRandom } from '../random.ts';
import type { ActorDraft } from '../types.ts';
import { writeCauses } from './causes.ts';
import { writeMeetings } from './meetings.ts';
import { writeOrganizations } from './organizations.ts';
import { draftOf, entry, page, say, type Desk } from './pages.ts';
import { writePeople, type Person } from './people.ts';
import { PLACES, SEAT } from './region.ts';

/** What somebody decided about two records. */
export interface DemoJudgement {
  left: string;
  right: string;
  verdict: 'same' | 'different';
  reason: string;
  score: number;
}

export interface Demo {
  places: OwnPlace[];
  drafts: ActorDraft[];
  judgements: DemoJudgement[];
}

/** An invented region, the same for every seed; dates lie around `now`. Everything in it has an origin that starts with `demo:`. */
export function draftsOfDemo(seed: number, now: number): Demo {
  const desk: Desk = { seed, random: createRandom(seed), now, pages: new Map(), entries: new Map() };
  const organizations = writeOrganizations(desk);
  const people = writePeople(desk, organizations);
  writeCauses(desk, organizations);
  writeMeetings(desk, organizations);
  const judgements = [...writeDuplicates(desk), ...writeNamesakes(desk, people)];
  return {
    places: [...PLACES],
    drafts: [...desk.entries.values()].map(draftOf),
    judgements,
  };
}

/** Organizations that came in twice, under a shorter name, and were found to be one. */
const TWICE: [key: string, other: string][] = [
  ['organization/tenants/harlow-ferry', 'HF Tenants Union'],
  ['organization/ledger/harlow-ferry', 'K.V. Ledger'],
  ['organization/transit/harlow-ferry', 'KV Transit'],
  ['organization/hospital/harlow-ferry', 'Ansel Memorial'],
  ['organization/clinic/harlow-ferry', 'The Free Clinic on Ferry Street'],
];

function writeDuplicates(desk: Desk): DemoJudgement[] {
  return TWICE.map(([key, other]) => {
    const first = desk.entries.get(key)!;
    const second = entry(desk, 'organization', `${key}/again`, other);
    const list = page(desk, { url: 'https://www.kestrelvalleyledger.example/who-helps-whom', title: 'Who helps whom in the valley', publication: 'Kestrel Valley Ledger', kind: 'news_article', method: 'manual', published: 60, read: 30 });
    const phone = first.claims.find(({ property, rank }) => property === 'phone' && rank !== 'deprecated')!.value as string;
    say(desk, list, second, `${other}, Harlow Ferry, ${phone}.`, [['name', other], ['place', SEAT.place_key], ['phone', phone], ['identifier', { scheme: 'demo', value: second.key }]], { confidence: 0.5 });
    return { left: first.id, right: second.id, verdict: 'same', reason: 'Same telephone number, and the paper says so.', score: 0.97 };
  });
}

/** Two people of one name are two people. */
function writeNamesakes(desk: Desk, people: Person[]): DemoJudgement[] {
  return people.filter(({ role }) => role === 'Mayor').slice(0, 2).map(({ entry: mayor, of }) => {
    const other = entry(desk, 'person', `${mayor.key}/nurse`, mayor.name);
    const story = page(desk, { url: `https://www.wkvr.example/talks/nurse-${mayor.key.slice(7)}`, title: 'Not the mayor', publication: 'WKVR Valley Radio', kind: 'podcast', method: 'manual', published: 50, read: 20 });
    const text = `${mayor.name} is a nurse in ${of.town.name} and no relation of the mayor, whose mail comes to the wrong house.`;
    say(desk, story, other, text, [['name', mayor.name], ['place', of.town.place_key], ['description', text], ['issue_area', 'healthcare_access_and_coverage'], ['identifier', { scheme: 'demo', value: other.key }]]);
    return { left: mayor.id, right: other.id, verdict: 'different', reason: 'Two people: the radio talked to both.', score: 0.71 };
  });
}

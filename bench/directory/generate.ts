import type { ActorDraft, ActorType, ClaimDraft, SourceDraft, SourceKind } from '../../plugins/directory/types.ts';
import { CAUSES, FIRST_NAMES, GROUPS, OFFICES, SYLLABLES, TEXT } from './words.ts';

/** Where generated actors may be, the largest first. */
export interface GeneratedPlace {
  place_key: string;
  name: string;
  /** Abbreviation. */
  state: string;
}

export interface GeneratorOptions {
  seed?: number;
  places: GeneratedPlace[];
  /** Slugs of the taxonomy. */
  issueAreas: string[];
}

const DAY = 86_400_000;
const EPOCH = Date.UTC(2026, 0, 1);
/** Events are in the two years after the epoch. */
const EVENT_HOURS = 2 * 365 * 24;
const TAIL = 60_000;
const SURNAMES = 30_000;
const TYPES: [ActorType, number][] = [['organization', 0.55], ['person', 0.25], ['initiative', 0.1], ['campaign', 0.05], ['event', 0.05]];
const KINDS: SourceKind[] = ['org_website', 'news_article', 'government_record', 'report', 'social_media'];

type Random = () => number;

/** Numbers between 0 and 1 that depend on nothing but the seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Picks places by Zipf's law: of a million actors the largest has about 78,000. */
function zipf(size: number, shift: number): (random: Random) => number {
  const sums = new Float64Array(size);
  let sum = 0;
  for (let index = 0; index < size; index++) sums[index] = sum += 1 / (index + shift);
  return (random) => {
    const wanted = random() * sum;
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** A word nobody has heard of, but everybody could say; always the same for a number. */
export function madeUpWord(number: number, salt: number): string {
  const random = randomFrom(number * 2 + salt);
  const parts = 2 + Math.floor(random() * 2.4);
  return Array.from({ length: parts }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]!).join('');
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

export interface Generator {
  /** The draft of this number; it depends on nothing else. */
  draft(index: number): ActorDraft;
}

export function createGenerator({ seed = 1, places, issueAreas }: GeneratorOptions): Generator {
  const pickPlace = zipf(places.length, 1.32);
  const pickIssue = zipf(issueAreas.length, 4);
  const pickText = zipf(TEXT.length + TAIL, 6);
  const pickCause = zipf(CAUSES.length, 3);
  const pickGroup = zipf(GROUPS.length, 2);
  const pickFirst = zipf(FIRST_NAMES.length, 10);
  const pickSurname = zipf(SURNAMES, 40);

  const cause = (random: Random) => capital(CAUSES[pickCause(random)]!);
  const surname = (random: Random) => capital(madeUpWord(pickSurname(random), 1));

  function textWord(random: Random): string {
    const index = pickText(random);
    return TEXT[index] ?? madeUpWord(index, 0);
  }

  function nameOf(type: ActorType, place: GeneratedPlace, random: Random): string {
    const group = capital(GROUPS[pickGroup(random)]!);
    if (type === 'person') return `${FIRST_NAMES[pickFirst(random)]} ${surname(random)}`;
    const style = random();
    if (type === 'event') return `${place.name} ${cause(random)} ${style < 0.5 ? 'Hearing' : 'Forum'} ${2024 + Math.floor(random() * 3)}`;
    if (type === 'campaign') return style < 0.5 ? `Vote ${surname(random)} for ${OFFICES[Math.floor(random() * OFFICES.length)]}` : `Yes on ${cause(random)} ${Math.floor(random() * 400)}`;
    if (style < 0.3) return `${place.name} ${cause(random)} ${group}`;
    if (style < 0.5) return `${group} for ${cause(random)} and ${cause(random)}`;
    if (style < 0.65) return `${surname(random)} ${cause(random)} ${group}`;
    if (style < 0.8) return `Friends of ${surname(random)} ${cause(random)}`;
    return `${cause(random)} ${group} of ${place.name}`;
  }

  function sourcesOf(index: number, random: Random): SourceDraft[] {
    const chance = random();
    const count = chance < 0.4 ? 1 : chance < 0.75 ? 2 : chance < 0.93 ? 3 : chance < 0.99 ? 5 : 12;
    return Array.from({ length: count }, (_, number) => ({
      local_id: `s${number}`,
      url: `https://${madeUpWord(Math.floor(random() * 50_000), 2)}.example.org/${index.toString(36)}/${number}`,
      title: `${capital(textWord(random))} ${textWord(random)} ${textWord(random)}`,
      publication: capital(madeUpWord(Math.floor(random() * 3000), 3)),
      kind: KINDS[number % KINDS.length]!,
      retrieved_at: new Date(EPOCH - Math.floor(random() * 700) * DAY).toISOString(),
    }));
  }

  return {
    draft(index) {
      const random = randomFrom(Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b));
      const wanted = random();
      let sum = 0;
      const type = TYPES.find(([, share]) => (sum += share) > wanted)?.[0] ?? 'organization';
      const place = places[pickPlace(random)]!;
      const sources = sourcesOf(index, random);
      const source = () => sources[Math.floor(random() * sources.length)]!.local_id;
      const claims: ClaimDraft[] = [
        { property: 'name', value: nameOf(type, place, random), source_local_id: 's0' },
        { property: 'place', value: place.place_key, source_local_id: source() },
        { property: 'issue_area', value: issueAreas[pickIssue(random)]!, source_local_id: source() },
      ];
      if (random() < 0.3) claims.push({ property: 'issue_area', value: issueAreas[pickIssue(random)]!, source_local_id: source() });
      if (random() < 0.85) {
        const words = Array.from({ length: 8 + Math.floor(random() * 14) }, () => textWord(random));
        claims.push({ property: 'description', value: `${capital(words.join(' '))}.`, source_local_id: source() });
      }
      if (random() < 0.6) claims.push({ property: 'website', value: `https://www.${madeUpWord(index, 4)}-${index.toString(36)}.example.org/`, source_local_id: source() });
      if (random() < 0.25) claims.push({ property: 'phone', value: `+1${2_000_000_000 + Math.floor(random() * 7_999_999_999)}`, source_local_id: source() });
      if (type === 'event') claims.push({ property: 'event_start', value: new Date(EPOCH + Math.floor(random() * EVENT_HOURS) * 3_600_000).toISOString(), source_local_id: source() });
      for (const claim of claims) claim.excerpt = `${capital(textWord(random))} ${textWord(random)} ${claim.value} ${textWord(random)} ${textWord(random)}`.slice(0, 200);
      if (type === 'person' && random() < 0.4) {
        claims.push({ property: 'affiliation', value: { entity_id: null, name: nameOf('organization', place, random), role: 'Member', since: null, until: null }, source_local_id: source() });
      }
      const created = new Date(EPOCH - Math.floor(random() * 365 * 86_400) * 1000).toISOString();
      return { type, visibility: 'public', sources, claims, created_at: created, updated_at: created, origin: `generated:${seed}-${index}` };
    },
  };
}

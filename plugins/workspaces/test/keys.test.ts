import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Signal } from 'civic/firehose';
import { indexedTarget, meetsQuery, signalKeys, targetHash } from '../watches/keys.ts';
import { isTimeZone, nextHour } from '../watches/schedule.ts';
import type { WatchQuery, WatchTarget } from '../watches/types.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const PLACES = ['a,x', 'b,x', 'c,x'];
const ISSUES = ['housing', 'water', 'transit'];
const TYPES = ['vote', 'filing', 'new_source'];
const CLASSES = ['news', 'government_record'];
const KINDS = ['person', 'organization'];

/** A repeatable sequence of numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

function someOf(values: string[], random: () => number): string[] {
  return values.filter(() => random() < 0.35);
}

function isFound(target: WatchTarget, signal: Signal): boolean {
  const { keys, compared } = indexedTarget(target);
  const { subjects, issues, types } = signalKeys(signal, signal.type !== 'new_source');
  return keys.some((key) => subjects.includes(key.subject) && issues.includes(key.issue) && types.includes(key.type)) && (compared === null || meetsQuery(signal, compared));
}

describe('The index of watches', () => {
  it('finds exactly the queries that a signal meets', () => {
    const random = numbers(7);
    let met = 0;
    for (let round = 0; round < 4000; round++) {
      const query: WatchQuery = { places: someOf(PLACES, random), issues: someOf(ISSUES, random), signal_types: someOf(TYPES, random), actor_types: someOf(KINDS, random), source_classes: someOf(CLASSES, random) };
      const signal = {
        places: someOf(PLACES, random), issues: someOf(ISSUES, random), type: TYPES[Math.floor(random() * 3)]!, source_class: CLASSES[Math.floor(random() * 2)]!,
        actors: someOf(KINDS, random).map((type) => ({ id: null, type })), origin: null,
      } as unknown as Signal;
      const isWanted = meetsQuery(signal, query) && (query.signal_types.length > 0 || signal.type !== 'new_source');
      expect(isFound({ type: 'query', query }, signal), JSON.stringify([query, signal])).to.equal(isWanted);
      met += Number(isWanted);
    }
    expect(met).to.be.above(100);
  });

  it('compares a query that has too many combinations for the index', () => {
    const many = (name: string) => Array.from({ length: 20 }, (_, index) => `${name}${index}`);
    const query: WatchQuery = { places: many('p'), issues: many('i'), signal_types: [], actor_types: [], source_classes: [] };
    const { keys, compared } = indexedTarget({ type: 'query', query });
    expect(keys).to.have.length(20);
    expect(compared).to.equal(query);
  });

  it('finds an actor by its id, but not in a signal that another instance published', () => {
    const signal = { places: [], issues: [], type: 'new_source', actors: [{ id: 'one', type: 'person' }], origin: null } as unknown as Signal;
    expect(isFound({ type: 'entity', id: 'one' }, signal)).to.be.true();
    expect(isFound({ type: 'entity', id: 'two' }, signal)).to.be.false();
    expect(isFound({ type: 'entity', id: 'one' }, { ...signal, origin: { url: 'https://other.example', event_id: '1' } })).to.be.false();
  });

  it('gives equal targets the same hash', () => {
    const query = (places: string[]): WatchTarget => ({ type: 'query', query: { places, issues: [], signal_types: [], actor_types: [], source_classes: [] } });
    expect(targetHash(query(['a', 'b']))).to.equal(targetHash(query(['b', 'a'])));
    expect(targetHash(query(['a']))).to.not.equal(targetHash({ type: 'place', id: 'a' }));
  });
});

describe('The hour of the digest', () => {
  const at = (from: string, hour: number, zone: string) => new Date(nextHour(Date.parse(from), hour, zone)).toISOString();

  it('is the next one in the time zone of the member', () => {
    expect(at('2026-03-01T12:00:00Z', 7, 'UTC')).to.equal('2026-03-02T07:00:00.000Z');
    expect(at('2026-03-01T12:00:00Z', 7, 'America/Chicago')).to.equal('2026-03-01T13:00:00.000Z');
    expect(at('2026-03-01T13:00:00Z', 7, 'America/Chicago')).to.equal('2026-03-02T13:00:00.000Z');
    expect(at('2026-03-01T22:00:00Z', 7, 'Asia/Tokyo')).to.equal('2026-03-02T22:00:00.000Z');
    expect(at('2026-03-01T12:00:00Z', 7, 'Asia/Kathmandu')).to.equal('2026-03-02T01:15:00.000Z');
  });

  it('follows summer time, and comes once on the days of the change', () => {
    expect(at('2026-03-07T14:00:00Z', 7, 'America/Chicago')).to.equal('2026-03-08T12:00:00.000Z');
    expect(at('2026-03-08T07:30:00Z', 2, 'America/Chicago')).to.equal('2026-03-08T08:00:00.000Z');
    expect(at('2026-03-08T08:00:00Z', 2, 'America/Chicago')).to.equal('2026-03-09T07:00:00.000Z');
    expect(at('2026-11-01T05:00:00Z', 1, 'America/Chicago')).to.equal('2026-11-01T06:00:00.000Z');
    expect(at('2026-11-01T06:00:00Z', 1, 'America/Chicago')).to.equal('2026-11-02T07:00:00.000Z');
  });

  it('needs a time zone that exists', () => {
    expect([isTimeZone('Europe/Madrid'), isTimeZone('Mars/Olympus')]).to.equal([true, false]);
  });
});

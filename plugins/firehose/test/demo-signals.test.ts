import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, stoppedClock, testDatabases, testServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import firehose from '../index.ts';
import { SIGNAL_TYPES, type Signal } from '../types.ts';
import { signalsKit, type SignalsKit } from './directory-kit.ts';

export const notQuick = 'it loads the demo';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = '2026-03-02T15:00:00.000Z';

async function all(kit: SignalsKit, query: string, who: string): Promise<Signal[]> {
  const found: Signal[] = [];
  for (let path: string | null = `/api/firehose?limit=200${query}`; path !== null;) {
    const { body } = await kit.get(path, who);
    found.push(...body.signals as Signal[]);
    path = body.links.next && new URL(body.links.next as string).pathname + new URL(body.links.next as string).search;
  }
  return found;
}

/** On Postgres lines are numbered after their transaction, and a full page does not mean all of them. */
async function numbered(kit: SignalsKit, count: number): Promise<void> {
  const found = async (): Promise<number> => (await kit.get('/api/firehose?limit=1', 'stranger')).body.summary.total_signals;
  for (const end = performance.now() + 30_000 * slowness; await found() < count && performance.now() < end;) await sleep(25);
}

let year: Signal[] = [];

const typesIn = (signals: Signal[]): string[] => [...new Set(signals.map(({ type }) => type))].sort();

describe('The year of the demo', { timeout: 90_000 }, () => {
  let kit: SignalsKit;
  before(async () => { kit = await signalsKit({ clock: stoppedClock(NOW), config: { demo: true } }); });
  after(async () => kit.close());

  it('is loaded with the region, once, and as it says', async () => {
    const loaded = await kit.run('demo load');
    expect(Number(loaded.signals)).to.be.within(350, 1200);
    year = await all(kit, '&visibility=reviewer', 'reviewer');
    expect(year.length).to.equal(loaded.signals);
    expect(await kit.run('demo load')).to.equal({ loaded: false, signals: 0 });
    expect((await kit.get('/api/firehose?limit=1&visibility=reviewer', 'reviewer')).body.summary.total_signals).to.equal(year.length);
  });

  it('is found on the page by every place that the page suggests', async () => {
    const suggested = [...(await kit.get('/signals')).text.matchAll(/<datalist id="places">(.*)<\/datalist>/g)].flatMap(([, options]) => [...options!.matchAll(/value="([^"]+)"/g)].map(([, name]) => name!));
    expect(suggested).to.include('Harlow Ferry, Tamarack (demo)');
    for (const name of [...suggested, 'Harlow Ferry']) expect((await kit.get(`/signals?place=${encodeURIComponent(name)}`)).text, name).to.match(/\d signals?/).and.to.not.contain('No place is called');
  });

  it('has every type of signal, spread over twelve months', async () => {
    expect(typesIn(year)).to.equal([...SIGNAL_TYPES].sort());
    const months = new Map<string, number>();
    for (const { detected_at } of year) {
      expect(detected_at <= NOW && detected_at > '2025-03-01').to.be.true();
      months.set(detected_at.slice(0, 7), (months.get(detected_at.slice(0, 7)) ?? 0) + 1);
    }
    expect(months.size).to.be.at.least(12);
    for (const [month, count] of months) if (month !== '2025-03' && month !== '2026-03') expect(count, month).to.be.above(10);
  });

  it('names actors, places and sources that exist', async () => {
    const actors = new Set<string>();
    const sources = new Set<string>();
    const data: any[] = (await kit.get('/api/exports/entities?format=ndjson')).text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    for (const { id, sources: own } of data) {
      actors.add(id);
      for (const source of own ?? []) sources.add(source.id);
    }
    for (const signal of year) {
      expect(signal.evidence.length, signal.title).to.be.above(0);
      for (const { source_id, publisher } of signal.evidence) {
        expect(sources.has(source_id!), signal.title).to.be.true();
        expect(publisher).to.match(/\(demo\)$/);
      }
      expect(signal.places.length, signal.title).to.be.above(0);
      for (const place of signal.places) expect(place).to.match(/,tamarack$/);
      for (const { id, role } of signal.actors) if (role !== 'merged') expect(actors.has(id!), signal.title).to.be.true();
    }
  });

  it('has meetings that were called off, each in place of one that was announced before', () => {
    const byId = new Map(year.map((signal) => [signal.id, signal]));
    const cancelled = year.filter(({ type }) => type === 'meeting_cancelled');
    expect(cancelled.length).to.be.above(3);
    for (const signal of cancelled) {
      const announced = byId.get(signal.supersedes!)!;
      expect(['public_meeting', 'short_notice']).to.include(announced.type);
      expect(announced.detected_at < signal.detected_at, signal.title).to.be.true();
      expect(signal.changes).to.equal([{ field: 'status', before: 'scheduled', after: 'cancelled' }]);
      expect(signal.occurred_at).to.equal(announced.occurred_at);
    }
  });

  it('hides signals that wait for review from all other callers', async () => {
    const waiting = year.filter(({ review_state }) => review_state === 'pending');
    expect(waiting.length).to.be.above(0);
    const open = await all(kit, '&visibility=public', 'stranger');
    expect(open.length).to.equal(year.length - waiting.length);
  });

  it('goes with the region', async () => {
    expect(Number((await kit.run('demo remove')).removed)).to.be.above(400);
    await kit.awaited(0, '&visibility=reviewer', 'reviewer');
  });
});

describe('An instance that is not there for the demo', { timeout: 60_000 }, () => {
  const announced = ['actor_discovered', 'actor_merged', 'coverage_gap', 'freshness_change', 'new_source'];

  it('announces the types of signals about the directory and no others', async () => {
    const kit = await testServer({ plugins: ['directory', 'accounts', firehose], open: false });
    expect((kit.composition.openApi() as any).components.schemas.SignalType.anyOf[0].enum.toSorted()).to.equal(announced);
    await kit.close();
  });

  // Once is enough, where it may be different from the year above.
  const [, postgres] = testDatabases();
  if (postgres) it(`loads a demo that keeps to that, and is the same on every load of a day, on ${postgres}`, async () => {
    const kit = await signalsKit({ database: postgres, clock: stoppedClock(NOW) });
    try {
      const { signals } = await kit.run('demo load');
      await numbered(kit, signals);
      const told = await all(kit, '', 'stranger');
      expect([told.length, typesIn(told)]).to.equal([signals, announced]);
      expect(told).to.equal(year.filter(({ type }) => announced.includes(type)));
      await kit.run('demo remove');
      await kit.awaited(0);
    } finally {
      await kit.close();
    }
  });
});

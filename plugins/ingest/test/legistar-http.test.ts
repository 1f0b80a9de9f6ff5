import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testServer, type TestServer } from 'civic/testing';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replay } from '../eval/replay.ts';
import { openLegistar, type LegistarEvent, type LegistarServer } from './legistar-server.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const FILE = join(import.meta.dirname, '../../../../../shared/data/legistar/nyc-2024q1.replay.ndjson');
const isThere = existsSync(FILE);
if (!isThere) console.log('skipped the replay of a real calendar over HTTP: shared/data/legistar is not beside the project');

/** npm run soak replays all 72 syncs, and says how far it is. */
const isLong = process.env.CIVIC_TEST_SOAK === '1';
const SYNCS = isLong ? 72 : 4;
const WINDOW_MS = 60 * 24 * 3600_000;

interface Sync {
  at: string;
  events: LegistarEvent[];
  removed: number[];
}

/** Returns the calendar at each sync as the API shows it: meetings of the last 60 days, and one column is missing in this city. */
function calendars(): { at: string; events: LegistarEvent[] }[] {
  const events = new Map<number, LegistarEvent>();
  return readFileSync(FILE, 'utf8').trim().split('\n').slice(0, SYNCS).map((line) => {
    const sync = JSON.parse(line) as Sync;
    for (const event of sync.events) events.set(event.EventId, { ...event, EventVideoPath: undefined } as LegistarEvent);
    for (const id of sync.removed) events.delete(id);
    const since = new Date(Date.parse(sync.at) - WINDOW_MS).toISOString().slice(0, 10);
    return { at: sync.at, events: [...events.values()].filter(({ EventDate }) => EventDate >= since) };
  });
}

/** Returns the same as lines of a file for `civic eval replay`, whose counts an independent script confirmed. */
function linesOf(steps: { at: string; events: LegistarEvent[] }[]): string[] {
  let shown: LegistarEvent[] = [];
  return steps.map(({ at, events }) => {
    const ids = new Set(events.map(({ EventId }) => EventId));
    const removed = shown.map(({ EventId }) => EventId).filter((id) => !ids.has(id));
    shown = events;
    return JSON.stringify({ at, events, removed });
  });
}

describe('A calendar of the Legistar Web API over HTTP', { skip: !isThere, timeout: 1_200_000 }, () => {
  const clock = stoppedClock('2024-02-01T00:00:00.000Z');
  let kit: TestServer;
  let legistar: LegistarServer;
  let path: string;
  const admin = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };
  const get = async (url: string) => (await kit.request('GET', `${url}?visibility=public`, { as: admin })).body;

  before(async () => {
    legistar = await openLegistar();
    kit = await testServer({
      clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest'],
      config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 }, ingest: { further_pages: 1000 } } },
    });
  });
  after(async () => {
    await kit.close();
    await legistar.close();
  });

  /** Returns the path of the new source. */
  async function watch(): Promise<string> {
    const { status, body } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url: `${legistar.url}?$top=50`, place: 'new-york,new-york', visibility: 'public', cadence_seconds: 300 } });
    expect(status, body.detail).to.equal(201);
    return `/api/watched-sources/${body.id}`;
  }

  /** Waits for the read that is due, and returns it. */
  async function nextRead(total: number) {
    for (let waited = 0; waited < 1600; waited++) {
      const history = await get(`${path}/history`);
      if (history.total > total) return history.data[0];
      await sleep(25);
    }
    throw new Error(`The source was not read: ${JSON.stringify(await get(path))}`);
  }

  async function countSignals(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let query = ''; ;) {
      const page: { signals: { type: string }[]; next_cursor: string | null } = (await kit.request('GET', `/api/firehose?visibility=public&limit=100${query}`)).body;
      for (const { type } of page.signals) counts[type] = (counts[type] ?? 0) + 1;
      if (page.next_cursor === null || page.signals.length === 0) return counts;
      query = `&cursor=${page.next_cursor}`;
    }
  }

  it('yields every change of successive syncs, nothing else, and nothing in a second read of each', async () => {
    const steps = calendars();
    const expected = await replay(linesOf(steps));
    if (isLong) expect(expected).to.include({ changes: { added: 147, changed: 276, gone: 1 }, signals: { 'public_meeting': 138, 'public_meeting (new version)': 268, 'source_change': 262, 'source_change (new version)': 1, 'meeting_cancelled': 21, 'short_notice': 5 } });
    const found = { added: 0, changed: 0, gone: 0 };
    let [total, published] = [0, 0];
    for (const { at, events } of steps) {
      legistar.show(events);
      clock.set(new Date(at).toISOString());
      if (total === 0) path = await watch();
      const read = await nextRead(total++);
      expect(['read', 'unchanged'], read.detail).to.include(read.outcome);
      for (const name of ['added', 'changed', 'gone'] as const) found[name] += read[name];
      published += read.signals;
      clock.set((await get(path)).next_read_at);
      expect(await nextRead(total++)).to.include({ outcome: 'unchanged', signals: 0 });
      if (isLong) console.log(`${total / 2} of ${SYNCS} syncs, ${legistar.requests.length} requests`);
    }
    expect(found).to.equal(expected.changes);
    // Its lists have empty agendas, as those of the API: each agenda is requested.
    expect(legistar.requests.some((request) => request.endsWith('/eventitems'))).to.be.true();
    expect(published).to.equal(Object.values(expected.signals).reduce((sum, count) => sum + count, 0));
    const created: Record<string, number> = Object.fromEntries(Object.entries(expected.signals).filter(([type]) => !type.includes('(')));
    // A correction is the new version of a cancellation.
    const corrections = expected.signals['source_change (new version)'] ?? 0;
    if (corrections > 0) Object.assign(created, { meeting_cancelled: created.meeting_cancelled! - corrections, source_change: created.source_change! + corrections });
    expect(await countSignals()).to.equal(created);
    if (isLong) console.log(JSON.stringify({ ...found, ...created }));
  });
});

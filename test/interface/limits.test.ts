import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { probe } from './probe.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

for (const database of testDatabases()) describe(`The limits, on ${database}`, { timeout: 60_000 }, () => {
  const clock = stoppedClock();
  let civic: TestServer;

  beforeEach(async () => {
    clock.set('2026-01-01T00:00:00.000Z');
    civic = await testServer({ plugins: [probe, 'ratelimit'], database, clock, config: { plugins: { ratelimit: { patience_ms: 10_000 } } } });
  });
  afterEach(() => civic.close());

  const read = () => civic.request('GET', '/api/probe');
  const write = () => civic.request('POST', '/api/probe', { payload: { reason: 'x' } });
  async function allowed(ask: typeof read, times: number): Promise<number> {
    let count = 0;
    for (let i = 0; i < times; i++) count += Number((await ask()).status < 300);
    return count;
  }

  it(covers(['limits.public-reads', 'limits.public-writes'], '30 reads and 10 writes a minute, each for itself, and again a minute later'), async () => {
    expect([await allowed(read, 33), await allowed(write, 13)]).to.equal([30, 10]);
    clock.advance(60_000);
    expect([await allowed(read, 33), await allowed(write, 13)]).to.equal([30, 10]);
  });

  it(covers('limits.public-total', '120 requests an hour, which refused ones do not use up'), async () => {
    let count = 0;
    for (let minute = 0; minute < 5; minute++) {
      count += await allowed(read, 35);
      clock.advance(60_000);
    }
    expect(count).to.equal(120);
  });

  it(covers(['headers.ratelimit-limit', 'headers.ratelimit-remaining', 'headers.ratelimit-reset'], 'each answer tells the window, what is left of it and for how long'), async () => {
    await read();
    clock.advance(20_000);
    expect((await read()).headers).to.include({ 'ratelimit-limit': '30', 'ratelimit-remaining': '28', 'ratelimit-reset': '40' });
  });

  it(covers('errors.429', 'too many are refused, with what is left, the time it starts anew and how long to wait'), async () => {
    await allowed(read, 30);
    clock.advance(20_000);
    const { status, headers } = await read();
    expect(status).to.equal(429);
    expect(headers).to.include({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.UTC(2026, 0, 1, 0, 1) / 1000), 'retry-after': '40' });
  });
});

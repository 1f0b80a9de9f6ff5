import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId, type Caller } from 'civic';
import { testServer } from 'civic/testing';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { describe, it } = lab;

const day = (days: number) => {
  const date = new Date(Date.now() + days * 86_400_000);
  return `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
};
const row = (id: number, body: string, days: number) => `<tr><td>${body}</td><td>${day(days)}</td><td>6:00 PM</td><td>Room ${id}</td><td><a href="/MeetingDetail.aspx?ID=${id}&GUID=A">Meeting details</a></td></tr>`;
const CALENDAR = `<html><head><title>City of Gladstone - Calendar</title></head><body><table><tr><th>Name</th><th>Meeting Date</th><th>Meeting Time</th><th>Meeting Location</th><th>Meeting Details</th></tr>${row(1, 'Zoning and Land Use Panel', 9)}${row(2, 'Zoning and Land Use Panel', 40)}${row(3, 'Parks Roundtable', -40)}</table></body></html>`;

describe('pages of platforms in discovery runs', () => {
  it('give their bodies and the next meeting of each, with passages', { timeout: 60_000 }, async () => {
    const web = createServer((request, response) => { response.writeHead(request.url === '/Calendar.aspx' ? 200 : 404, { 'content-type': 'text/html' }).end(request.url === '/Calendar.aspx' ? CALENDAR : ''); });
    await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
    const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const kit = await testServer({ plugins: ['directory', 'reader', 'accounts', 'firehose', 'discovery', 'ingest'], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false } } } });
    try {
      const as: Partial<Caller> = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' };
      const { id } = (await kit.request('POST', '/api/discovery-runs', { as, payload: { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], seeds: [`${origin}/Calendar.aspx`] } })).body;
      while ((await kit.request('GET', `/api/discovery-runs/${id}`, { as })).body.status !== 'completed') await sleep(50);
      const { data } = (await kit.request('GET', `/api/discovery-runs/${id}/candidates`, { as })).body as { data: { type: string; name: string; score: number; claims: { property: string; value: string; excerpt: string; locator: { start: number; end: number } }[] }[] };
      const found = (type: string, name: string) => data.find((one) => one.type === type && one.name === name);
      for (const body of ['Zoning and Land Use Panel', 'Parks Roundtable']) expect(found('organization', body), body).to.include({ score: 0.9 });
      expect(found('event', 'Parks Roundtable')).to.not.exist();
      const { claims } = found('event', 'Zoning and Land Use Panel')!;
      expect(claims.filter(({ property }) => property === 'event_start')).to.have.length(1);
      expect(claims.find(({ property }) => property === 'event_location')!.value).to.equal('Room 1');
      for (const { excerpt, locator } of claims) expect(locator.end - locator.start).to.equal(excerpt.length);
    } finally {
      await kit.close();
      web.closeAllConnections();
      web.close();
    }
  });
});

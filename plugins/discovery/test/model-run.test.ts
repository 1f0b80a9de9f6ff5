import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId, type Caller } from 'civic';
import { testServer } from 'civic/testing';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const lab = Lab.script();
const { describe, it } = lab;

const TEXT = 'Vecinas y vecinos cuidan el arroyo Maldonado con quilombo verde desde 1999';

describe('discovery runs with a language model', () => {
  it('propose what the model quotes from the page, and nothing that it invents', { timeout: 60_000 }, async () => {
    const asked: string[] = [];
    const web = createServer((request, response) => {
      if (request.method === 'POST') {
        asked.push(String(request.headers.authorization));
        const actors = [{ type: 'organization', name: 'quilombo verde', quote: 'con quilombo verde desde 1999', role: null, organization: null }, { type: 'person', name: 'Nadie Inventado', quote: 'Nadie Inventado', role: null, organization: null }];
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { content: JSON.stringify({ actors }) } }] }));
      }
      const isPage = request.url === '/';
      response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html' }).end(isPage ? `<html><body><p>${TEXT}</p></body></html>` : '');
    });
    await new Promise<void>((done) => { web.listen(0, '127.0.0.1', done); });
    const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const kit = await testServer({ plugins: ['directory', 'reader', 'accounts', 'discovery'], config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { reader: { delay_seconds: 0, browser_fallback_enabled: false }, discovery: { model: { url: `${origin}/v1`, name: 'small', api_key: 'secret' } } } } });
    try {
      const as: Partial<Caller> = { account_id: newId(), workspace_id: newId(), workspace_role: 'owner', scope: ['discovery:read', 'discovery:write'], capabilities: ['discovery'], plan: 'individual' };
      const { id } = (await kit.request('POST', '/api/discovery-runs', { as, payload: { location: 'Gladstone, MO', issue_areas: ['housing_affordability'], seeds: [`${origin}/`] } })).body;
      while ((await kit.request('GET', `/api/discovery-runs/${id}`, { as })).body.status !== 'completed') await sleep(50);
      const { data } = (await kit.request('GET', `/api/discovery-runs/${id}/candidates`, { as })).body;
      expect(data.map(({ name, claims }: { name: string; claims: { method: string }[] }) => [name, claims[0]!.method])).to.equal([['quilombo verde', 'model']]);
      expect(asked[0]).to.equal('Bearer secret');
    } finally {
      await kit.close();
      web.closeAllConnections();
      web.close();
    }
  });
});

import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { statSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMachine, type Machine } from '../support/scout.ts';
import { LOCAL, startSite, type Site } from './site.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const KEY = 'civic_abcdefgh_secret';

interface Bundle {
  local_run_id: string;
  part: number;
  parts: number;
  visibility: string;
  sources: { local_id: string }[];
  entries: { local_id: string; claims: { source_local_id: string }[] }[];
}

describe('The sync of scout', () => {
  let machine: Machine;
  let site: Site;
  let server: Server;
  let url: string;
  const received: { body: Bundle; key: string | undefined }[] = [];
  /** What the instance does with the next requests. */
  const faults: { status: number; headers?: Record<string, string> }[] = [];

  before(async () => {
    server = createServer(async (request, response) => {
      const send = (status: number, body: object, headers = {}) => { response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)); };
      const key = request.headers['x-api-key'] as string | undefined;
      if (request.url === '/health') return send(200, { status: 'ok', version: '1' });
      if (key !== KEY) return send(401, { code: 'invalid_key', detail: 'The key is not known.' });
      if (request.method === 'GET') return send(200, { data: [], total: 0, next_cursor: null });
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const fault = faults.shift();
      if (fault) return send(fault.status, { detail: 'Not now.' }, fault.headers);
      const text = Buffer.concat(chunks).toString();
      const body = JSON.parse(text) as Bundle;
      const duplicate = received.some((one) => JSON.stringify(one.body) === text);
      received.push({ body, key });
      send(duplicate ? 200 : 201, {
        run_id: '0190a000-0000-7000-8000-00000000000a', duplicate, visibility: 'workspace', review_state: 'reviewed',
        entry_links: body.entries.map(({ local_id }) => ({ local_id, entity_id: local_id, action: 'created', visibility: 'workspace' })),
        source_links: [], workspace_links: { briefs: [], lists: [], coverage_targets: [] }, entries_persisted: body.entries.length, sources_persisted: body.sources.length,
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    site = await startSite();
    machine = createMachine(LOCAL);
    await machine.scout('run', '--location', 'Kansas City, MO', '--issue', 'housing_affordability', '--seed', `${site.url}/about`);
    await machine.spawn(['review'], ['a', 'a', 'q']);
  });
  after(async () => {
    machine.remove();
    server.closeAllConnections();
    server.close();
    await site.close();
  });

  it('needs a sign-in', async () => {
    expect((await machine.scout('sync')).stderr).to.equal('No instance is chosen: bin/scout login <url> signs in at one.\n');
    Object.assign(machine.env, { SCOUT_INSTANCE_URL: url });
    expect((await machine.scout('sync')).stderr).to.equal(`Not signed in at ${url}: bin/scout login signs in, bin/scout login --key stores an API key.\n`);
    expect((await machine.scout('doctor')).stdout).to.contain(`scout: instance: ${url} responds, but scout is not signed in there`);
  });

  it('stores a key that the instance accepts, in a file for this user, and never prints it', async () => {
    const wrong = await machine.spawn(['login', '--key'], ['civic_wrong']);
    expect([wrong.code, wrong.stdout]).to.equal([1, '']);
    expect(wrong.stderr).to.contain('(401): The key is not known.').and.to.contain('Nothing was stored.');
    const right = await machine.spawn(['login', '--key'], [KEY]);
    expect([right.code, right.stdout]).to.equal([0, `Signed in at ${url}. bin/scout sync sends accepted entries there.\n`]);
    const file = join(machine.folder, 'data/scout/sign-in.json');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file, 'utf8')).to.contain(KEY);
    const doctor = await machine.scout('doctor');
    expect(doctor.stdout).to.contain(`scout: instance: signed in at ${url} with an API key`);
    expect(right.stdout + right.stderr + doctor.stdout + (await machine.scout('config', 'show')).stdout).to.not.contain(KEY);
  });

  it('waits where the instance asks for patience, and prints the receipt', async () => {
    faults.push({ status: 429, headers: { 'retry-after': '1' } });
    const { code, stdout } = await machine.scout('sync');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Run [0-9a-f-]+: 2 entries and 1 sources stored as run 0190a000-0000-7000-8000-00000000000a \(2 created; visibility workspace, reviewed\)\.\n$/);
    const { body } = received[0]!;
    expect(body).to.include({ part: 1, parts: 1, visibility: 'workspace', tool: { name: 'scout', version: '1' }, location: 'Kansas City, MO', issue_areas: ['housing_affordability'] });
    const sources = body.sources.map(({ local_id }) => local_id);
    for (const { claims } of body.entries) for (const { source_local_id } of claims) expect(sources).to.include(source_local_id);
  });

  it('sends the same again, which the instance recognizes', async () => {
    const { stdout } = await machine.scout('sync', '--json');
    expect(JSON.parse(stdout)).to.have.length(1);
    expect(JSON.parse(stdout)[0]).to.include({ duplicate: true, part: 1, parts: 1 });
  });

  it('reports what the instance rejects', async () => {
    faults.push({ status: 403 });
    const { code, stderr } = await machine.scout('sync');
    expect([code, stderr]).to.equal([1, `${url} rejected the request (403): Not now.\n`]);
    expect((await machine.scout('sync', '--visibility', 'secret')).code).to.equal(2);
    Object.assign(machine.env, { SCOUT_INSTANCE_URL: 'http://127.0.0.1:9' });
    expect((await machine.scout('sync')).stderr).to.startWith(`The sign-in is for ${url}, but instance.url is http://127.0.0.1:9`);
    expect((await machine.scout('doctor')).stdout).to.contain('cannot be reached');
  });
});

import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../core/testing/port.ts';
import { oauthKit, type OauthKit, type Person } from '../../plugins/oauth/test/kit.ts';
import { createMachine, endOf, type Machine } from '../support/scout.ts';
import { LOCAL, startSite, type Site } from './site.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('A sign-in of scout with a browser', { timeout: 60_000 }, () => {
  let kit: OauthKit;
  let ada: Person;
  let machine: Machine;
  let site: Site;
  let file: string;

  before(async () => {
    const port = await freePort();
    kit = await oauthKit({ plugins: ['oauth', 'directory', 'reader', 'discovery'], config: { public_url: `http://127.0.0.1:${port}`, http: { port } } });
    ada = await kit.person();
    site = await startSite();
    machine = createMachine(LOCAL);
    file = join(machine.folder, 'data/scout/sign-in.json');
  });
  after(async () => {
    machine.remove();
    await site.close();
    await kit.close();
  });

  /** Starts the sign-in, and returns the code that it shows. */
  async function begin() {
    const child = machine.start(['login', kit.url]);
    const ended = endOf(child);
    const [shown] = await once(child.stderr, 'data') as [Buffer];
    const code = /enter the code ([A-Z]{4}-[A-Z]{4}), or open (\S+)/.exec(String(shown));
    expect(code, String(shown)).to.not.be.null();
    return { code: code![1]!, ended };
  }

  it('ends when the person declines', async () => {
    const { code, ended } = await begin();
    await ada.browser.get(`/device?user_code=${code}`);
    await ada.browser.post('/device/deny', { user_code: code });
    expect(await ended).to.include({ code: 1, stdout: '' });
    expect((await ended).stderr).to.endWith('The sign-in was declined in the browser.\n');
    expect(existsSync(file)).to.be.false();
  });

  it('stores tokens once the person has confirmed the code, and sends entries with them', async () => {
    const { code, ended } = await begin();
    await ada.browser.get(`/device?user_code=${code}`);
    await ada.browser.post('/device', { user_code: code, workspace: ada.workspace_id, scopes: ['discovery:read', 'discovery:write'] });
    const { code: exit, stdout, stderr } = await ended;
    expect([exit, stdout], stderr).to.equal([0, `Signed in at ${kit.url}. bin/scout sync sends accepted entries there.\n`]);
    const { access_token, refresh_token } = JSON.parse(readFileSync(file, 'utf8'));
    expect(stdout + stderr).to.not.contain(access_token).and.to.not.contain(refresh_token);
    await machine.spawn(['run', '--location', 'Kansas City, MO', '--issue', 'housing_affordability', '--seed', `${site.url}/about`]);
    await machine.spawn(['review'], ['a', 'q']);
    const [receipt] = JSON.parse((await machine.spawn(['sync', '--json'])).stdout);
    expect(receipt).to.include({ duplicate: false, entries_persisted: 1 });
    const { body } = await kit.send('GET', `/api/discovery-runs/${receipt.run_id}`, { headers: { 'x-api-key': ada.key } });
    expect(body).to.include({ status: 'completed', location: 'Kansas City, MO' });
  });

  it('is renewed when the access token has expired', async () => {
    const before = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...before, expires_at: 0 }), { mode: 0o600 });
    expect(JSON.parse((await machine.spawn(['sync', '--json'])).stdout)[0].duplicate).to.be.true();
    expect(JSON.parse(readFileSync(file, 'utf8')).refresh_token).to.not.equal(before.refresh_token);
    writeFileSync(file, JSON.stringify({ ...before, expires_at: 0, refresh_token: 'wrong' }), { mode: 0o600 });
    expect((await machine.spawn(['sync'])).stderr).to.equal('The sign-in has ended: run bin/scout login again.\n');
  });
});

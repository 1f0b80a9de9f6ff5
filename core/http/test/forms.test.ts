import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { definePlugin } from '../../plugin.ts';
import { testServer, type TestResponse, type TestServer } from '../../testing.ts';
import { bindForms, formOptions, readForm } from '../forms.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const schema = Joi.object({ name: Joi.string().trim().max(5).required().label('the name'), age: Joi.number().integer().label('the age') });

const guestbook = definePlugin({
  name: 'guestbook',
  summary: 'Takes forms',
  paths: { '/token': { audience: 'people' }, '/sign': { audience: 'people' } },
  register(server, civic) {
    // The header stands in for a session's cookie.
    civic.identify((request) => { if (request.headers['x-session']) bindForms(request, String(request.headers['x-session'])); return null; });
    server.route([
      { method: 'GET', path: '/token', options: { plugins: { civic: { internal: true } } }, handler: (request) => request.civic.formToken ?? 'none' },
      { method: 'POST', path: '/sign', options: formOptions(), handler: (request) => readForm(request, schema) },
    ]);
  },
});

describe('A form', () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [guestbook], config: { public_url: 'https://civic.example/sub' } }); });
  after(() => kit.close());

  const send = (fields: Record<string, string>, headers: Record<string, string> = {}): Promise<TestResponse> => kit.request('POST', '/sign', {
    payload: new URLSearchParams(fields).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
  const tokenOf = async (session: string): Promise<string> => (await kit.request('GET', '/token', { headers: { 'x-session': session } })).text;

  it('is read and checked, each fault beside its field', async () => {
    expect((await send({ name: ' Ada ', age: '36' })).body).to.equal({ values: { name: 'Ada', age: 36 }, errors: {}, given: { name: ' Ada ', age: '36' } });
    const { values, errors, given } = (await send({ name: 'Adalbert', age: 'old' })).body;
    expect(values).to.be.null();
    expect(Object.keys(errors)).to.equal(['name', 'age']);
    expect(errors.age).to.equal('The age must be a number.');
    expect(given.name).to.equal('Adalbert');
  });

  it('holds no character that the database cannot', async () => {
    expect((await send({ name: 'a\0b' })).body.errors).to.equal({ name: 'This holds a character that cannot be stored.' });
  });

  it('is refused when another site sent it', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      const { status, body } = await send({ name: 'Ada' }, headers as unknown as Record<string, string>);
      expect([status, body.code], JSON.stringify(headers)).to.equal([403, 'foreign_form']);
    }
    for (const headers of [{ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8080' }, { origin: 'https://civic.example' }]) {
      expect((await send({ name: 'Ada' }, headers as unknown as Record<string, string>)).status).to.equal(200);
    }
  });

  it('of a signed-in user has the token of the same session', async () => {
    const [mine, others] = [await tokenOf('one'), await tokenOf('two')];
    expect(mine).to.not.equal(others);
    expect((await send({ name: 'Ada', form_token: mine }, { 'x-session': 'one' })).body.values).to.equal({ name: 'Ada' });
    for (const form_token of ['', others, `${mine}x`]) {
      expect((await send({ name: 'Ada', form_token }, { 'x-session': 'one' })).body.code).to.equal('stale_form');
    }
  });

  it('is never JSON', async () => {
    expect((await kit.request('POST', '/sign', { payload: { name: 'Ada' } })).status).to.equal(415);
  });

  it('without this guard stops the boot', async () => {
    const careless = definePlugin({
      name: 'careless', summary: 'Takes any form',
      register(server) { server.route({ method: 'POST', path: '/careless', options: { plugins: { civic: { internal: true } } }, handler: () => 'ok' }); },
    });
    await expect(testServer({ plugins: [careless], open: false })).to.reject(/POST \/careless \(careless\): .*formOptions/);
  });
});

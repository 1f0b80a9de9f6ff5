import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { definePlugin } from '../../plugin.ts';
import { testServer, type TestResponse, type TestServer } from '../../testing.ts';
import { bindForms, formOptions, readForm } from '../forms.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const schema = Joi.object({ name: Joi.string().trim().max(5).required().label('the name'), age: Joi.number().integer().label('the age') });

const own = Joi.object({
  name: Joi.string().max(5).required(), age: Joi.number().integer().min(18), mail: Joi.string().email(), kind: Joi.string().valid('a', 'b'),
  note: Joi.string().min(2).messages({ 'string.min': 'core.form.date' }), odd: Joi.string().guid(),
});

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
      { method: 'POST', path: '/sign/here', options: formOptions(), handler: async (request) => readForm(request, own, await civic.texts(request.civic.language)) },
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

  it('has its errors in the language of the page: core’s text for the rule, or the text that the schema names', async () => {
    const errors = async (path: string, fields: Record<string, string>): Promise<object> => (await kit.request('POST', path, { payload: new URLSearchParams(fields).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } })).body.errors;
    const wrong = { name: 'Adalbert', age: '17', mail: 'x', kind: 'c', note: 'n', odd: 'x' };
    expect(await errors('/es/sign/here', wrong)).to.equal({
      name: 'Use como máximo 5 caracteres.', age: 'Use 18 o más.', mail: 'No es una dirección de correo electrónico, como nombre@example.org.', kind: 'Elija uno de los valores.',
      note: 'No es una fecha, como 2026-11-24.', odd: 'Este valor no se puede usar.',
    });
    expect(await errors('/es/sign/here', {})).to.equal({ name: 'Complete este campo.' });
    expect(await errors('/es/sign/here', { name: '\0' })).to.equal({ name: 'Contiene un carácter que no se puede guardar.' });
    expect(await errors('/sign/here', { name: 'Adalbert', age: '1.5' })).to.equal({ name: 'Use at most 5 characters.', age: 'Use a whole number.' });
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

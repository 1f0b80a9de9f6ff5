import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testServer } from 'civic/testing';
import { limitedServer, sendRaw } from './kit.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const declaring = (name: string) => definePlugin({ name: 'counter', summary: 'Counts', rates: { [name]: { label: 'counting', per_minute: 2, per_hour: 20 } }, register: () => undefined });

describe('A rate class', () => {
  it('cannot be called like an option of ratelimit', async () => {
    for (const name of ['anonymous', 'pages', 'patience_ms', 'api']) {
      await expect(testServer({ plugins: ['ratelimit', declaring(name)], open: false })).to.reject(new RegExp(`The plugin counter declares the rate class "${name}"`));
    }
  });

  it('of a request is known although its headers are too large or malformed', async () => {
    const kit = await limitedServer({ listen: true });
    const raw = (lines: string) => sendRaw(kit.url, `${lines}\r\nHost: x\r\nConnection: close\r\n`);
    const long = `X-Long: ${'x'.repeat(20_000)}`;
    const remaining = (text: string) => [/^HTTP\/1.1 (\d+)/.exec(text)?.[1], /^ratelimit-limit: (\d+)/im.exec(text)?.[1], /^ratelimit-remaining: (\d+)/im.exec(text)?.[1]];
    expect(remaining(await raw(`GET /api/things HTTP/1.1\r\n${long}`))).to.equal(['431', '30', '29']);
    expect(remaining(await raw(`POST /api/things?x=1 HTTP/1.1\r\n${long}`))).to.equal(['431', '10', '9']);
    expect(remaining(await raw(`GET /api/${'x'.repeat(20_000)} HTTP/1.1`))).to.equal(['431', '30', '28']);
    expect(remaining(await raw('GET /api/things HTTP/1.1\r\nBad@Name: x'))).to.equal(['400', '30', '27']);
    expect(remaining(await raw(`GET /page HTTP/1.1\r\n${long}`))).to.equal(['431', undefined, undefined]);
    for (let count = 0; count < 27; count++) await raw('GET /api/things HTTP/1.1\r\nBad@Name: x');
    expect(remaining(await raw(`GET /api/things HTTP/1.1\r\n${long}`))).to.equal(['429', '30', '0']);
    await kit.close();
  });

  it('may stay in the config file while its plugin is off', async () => {
    const config = { plugins: { ratelimit: { sign_in: { requests_per_minute: 3 } } } };
    await testServer({ plugins: ['ratelimit'], config, open: false });
    await expect(testServer({ plugins: ['ratelimit'], config: { plugins: { ratelimit: { sing_in: {} } } }, open: false })).to.reject(/did you mean .*sign_in/);
  });

  it('that counts by address gives an account no requests of its own', async () => {
    const kit = await limitedServer();
    const signIn = (headers: Record<string, string> = {}) => kit.request('POST', '/sign-in', { payload: {}, headers });
    for (let i = 0; i < 30; i++) expect((await signIn()).status).to.not.equal(429);
    expect((await signIn()).status).to.equal(429);
    expect((await signIn({ 'x-api-key': 'key_ada_free_1' })).status).to.equal(429);
    await kit.close();
  });
});

import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createFetch, FetchError, type FetchSettings } from '../fetch.ts';
import { listen, stop } from './loopback.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const settings: FetchSettings = { allowPrivateAddresses: true, timeoutSeconds: 1, maxBytes: 1000, maxRedirects: 5, userAgent: 'civic-test/1' };

describe('fetch.stream', () => {
  const fetch = createFetch(settings);
  let origin: { server: Server; port: number };
  let open: ServerResponse | null = null;
  const seen: Record<string, unknown>[] = [];
  const { signal } = new AbortController();

  before(async () => {
    origin = await listen((request, response) => {
      seen.push(request.headers);
      if (request.url === '/moved') return response.writeHead(302, { location: '/beats' }).end();
      if (request.url === '/packed') return response.writeHead(200, { 'content-encoding': 'gzip' }).end('?');
      if (request.url === '/never') return;
      open = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('a'.repeat(2000));
      setTimeout(() => { if (request.url === '/cut') response.destroy(); else response.write('b'); }, 1300);
    });
  });
  after(async () => {
    await fetch.close();
    await stop(origin.server);
  });

  const address = (path: string) => `http://127.0.0.1:${origin.port}${path}`;

  it('gives the body as it comes, beyond the limits of time and size, unpacked and after redirects', async () => {
    const answer = await fetch.stream(address('/moved'), { signal });
    expect(answer).to.include({ status: 200, url: address('/beats') });
    expect(answer.headers['content-type']).to.equal('text/event-stream');
    expect(seen.at(-1)).to.include({ 'accept-encoding': 'identity' });
    let text = '';
    for await (const piece of answer.body) {
      text += Buffer.from(piece).toString();
      if (text.endsWith('b')) break;
    }
    expect(text.length).to.equal(2001);
    // Who leaves the loop hangs up.
    if (!open!.destroyed) await once(open!, 'close');
  });

  it('ends the body at the size that the caller allows', async () => {
    const { body, hops } = await fetch.stream(address('/moved'), { signal, max_bytes: 1500 });
    expect(hops).to.equal([{ url: address('/moved'), status: 302 }]);
    const read = async () => { for await (const piece of body) expect(piece.length).to.be.below(1501); };
    await expect(read()).to.reject(FetchError, /is larger than the 1500 bytes/);
  });

  it('ends with the reason of the signal, before the headers and after', async () => {
    const late = new AbortController();
    setTimeout(() => late.abort(new Error('enough')), 50);
    await expect(fetch.stream(address('/never'), { signal: late.signal })).to.reject(Error, 'enough');

    const stopping = new AbortController();
    const { body } = await fetch.stream(address('/beats'), { signal: stopping.signal });
    const read = async () => { for await (const piece of body) if (piece.length > 0) stopping.abort(new Error('enough')); };
    await expect(read()).to.reject(Error, 'enough');
  });

  it('fails in words of ours: no headers in time, a cut, a packed body, a private address', async () => {
    const codeOf = async (work: () => Promise<unknown>): Promise<string> => ((await expect(work()).to.reject(FetchError)) as FetchError).code;
    const read = async (path: string) => { for await (const _ of (await fetch.stream(address(path), { signal })).body); };
    expect(await codeOf(() => read('/never'))).to.equal('too_slow');
    expect(await codeOf(() => read('/cut'))).to.equal('bad_response');
    expect(await codeOf(() => read('/packed'))).to.equal('bad_response');
    const careful = createFetch({ ...settings, allowPrivateAddresses: false });
    expect(await codeOf(() => careful.stream(address('/beats'), { signal }))).to.equal('address_refused');
    await careful.close();
  });
});

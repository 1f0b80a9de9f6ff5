import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createShellCheck } from '../browser/shell.ts';
import { createRequests, type Load, type PausedRequest } from '../browser/requests.ts';
import type { ReaderService } from '../types.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const paused = (url: string): PausedRequest => ({ requestId: '1', resourceType: 'Fetch', frameId: 'main', request: { url, method: 'GET', headers: {} } });

describe('The requests of a page', () => {
  it('go to ten origins at most, because each has a robots.txt that is stored', async () => {
    const loaded: string[] = [];
    const load: Load = async (url, { admit }) => {
      admit(new URL(url));
      loaded.push(url);
      return { url, status: 200, headers: {}, body: Buffer.from('{}'), hops: [] } as unknown as Awaited<ReturnType<Load>>;
    };
    const requests = createRequests(load, { url: 'https://city.example/', status: 200, headers: {}, body: Buffer.alloc(0) }, 'main');
    const replies = [];
    for (let number = 0; number < 30; number++) replies.push(await requests.reply(paused(`https://${number}.city.example/data.json`)));
    expect(replies.filter((reply) => reply !== null)).to.have.length(9);
    expect(loaded).to.have.length(9);
    expect(await requests.reply(paused('https://city.example/own.json'))).to.include({ status: 200 });
  });
});

describe('The check whether a page needs a browser', () => {
  it('parses a page once, and again when it could not be parsed', async () => {
    let calls = 0;
    const isShell = createShellCheck(async () => {
      if (++calls === 1) throw new Error('too slow');
      return { is_script_page: true, login_wall: false } as Awaited<ReturnType<ReaderService['document']>>;
    });
    const content = { hash: 'a', content_type: 'text/html', body: Buffer.alloc(0) };
    const found = [];
    for (let read = 0; read < 3; read++) found.push(await isShell('https://city.example/', content));
    expect([found, calls]).to.equal([[false, true, true], 2]);
  });
});

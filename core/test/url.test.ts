import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../root.ts';
import { basePathOf, isLoopbackHost, parseUrl } from '../url.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('parseUrl', () => {
  it('parses addresses outside ASCII, also after many calls', () => {
    for (let i = 0; i < 300_000; i++) parseUrl(`http://example.org/${i % 10}`);
    expect(parseUrl('http://m\u00fcnchen.example/x')?.hostname).to.equal('xn--mnchen-3ya.example');
    expect([parseUrl('http://'), parseUrl('/path'), parseUrl('/path', new URL('http://a.example/'))?.href]).to.equal([null, null, 'http://a.example/path']);
  });

  it('is used instead of URL.canParse', () => {
    const files = ['core', 'plugins'].flatMap((folder) => readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(projectRoot, folder, name)));
    const using = files.filter((file) => file.endsWith('.ts') && !file.endsWith('/url.ts') && !file.endsWith('/url.test.ts') && readFileSync(file, 'utf8').includes('URL.canParse'));
    expect(using).to.equal([]);
  });
});

describe('isLoopbackHost', () => {
  it('accepts the names and addresses of this machine as a URL writes them', () => {
    for (const url of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080']) expect(isLoopbackHost(new URL(url).hostname), url).to.be.true();
    for (const url of ['http://localhost.example.org', 'http://127.0.0.1.example.org', 'http://128.0.0.1']) expect(isLoopbackHost(new URL(url).hostname), url).to.be.false();
  });
});

describe('basePathOf', () => {
  it('is the path of the public address without a slash at the end', () => {
    expect(['https://a.example', 'https://a.example/', 'https://a.example/civic', 'https://a.example/civic/'].map(basePathOf)).to.equal(['', '', '/civic', '/civic']);
  });
});

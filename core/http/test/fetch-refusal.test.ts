import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import type { Server } from 'node:http';
import { isPublicAddress } from '../addresses.ts';
import { createFetch, FetchError, type FetchOptions, type FetchSettings } from '../fetch.ts';
import { guardLoopback, listen, names, ORIGIN, stop, type Guard } from './loopback.ts';
import { parseUrl } from '../../url.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// `npm run soak -- generated` tries ten times as many.
const RUNS = process.env.CIVIC_TEST_SOAK === '1' ? 10 : 1;

/** Hosts in a URL that lead to this machine. */
const LOOPBACK = [
  '127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '127.0.0.2', '127.255.255.254', '127.000.000.001', '2130706433', '2130706433.',
  '0x7f000001', '0X7F000001', '0x7f.1', '0x7f.0.0.1', '0x7F.0x0.0x0.0x1', '0177.1', '0177.0.0.1', '00000177.0.0.1', '017700000001',
  '0177.0x0.0.1', '127.0.0.0x1', '127.0x1', '0x7f.0.01', '%31%32%37.0.0.1', '127%2e0%2e0%2e1', '%30%78%37%66.1', '１２７.０.０.１',
  '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '①②⑦.⓪.⓪.①', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '０ｘ７ｆ.１', '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1', '127.0\u00AD.0.1',
  '0', '0.', '0x', '0x0', '00', '0.0', '0.0.0.0', '0x00000000', '0.0.0.1', '000.000.000.000',
  '[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0001]', '[0::1]', '[::0:1]', '[::0.0.0.1]',
  '[::]', '[0:0::0]', '[::0.0.0.0]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:7F00:0001]', '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:127.1.2.3]', '[::ffff:0:0]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]', '[64:ff9b:1:7f00:0:100::]', '[2002:7f00:1::]', '[2002:7F00:0001::1]', '[2001:0:7f00:1::]', '[2001::80ff:fffe]',
];

/** Hosts in a URL that lead into a private network, or nowhere. */
const PRIVATE = [
  '10.0.0.1', '10.255.255.255', '10.1', '0xa.1', '012.0.0.1', '167772161', '0x0a000001', '172.16.0.1', '172.31.255.255', '172.16.1',
  '2886729729', '192.168.0.1', '192.168.1', '192.168.257', '3232235777', '0xc0a80001', '169.254.169.254', '2852039166', '0xa9fea9fe',
  '0251.0376.0251.0376', '169.254.43518', '169.16689662', '100.64.0.1', '100.100.100.200', '100.127.255.255', '192.0.0.1', '192.0.0.192',
  '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1',
  '255.255.255.255', '4294967295', '168.63.129.16', '[fc00::1]', '[fd00::1]', '[fd00:ec2::254]', '[FDFF:FFFF::1]', '[fe80::1]', '[febf::1]',
  '[fec0::1]', '[ff02::1]', '[ff0e::1]', '[100::1]', '[2001:db8::1]', '[2001:2::1]', '[2001:10::1]', '[3fff::1]', '[5f00::1]', '[4000::1]',
  '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]', '[::ffff:192.168.0.1]', '[64:ff9b::10.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[2002:a00:1::1]',
  '[2002:a9fe:a9fe::]', '[2002:c0a8:101::1]', '[::10.0.0.1]', '[::a9fe:a9fe]', '[2001:0:a9fe:a9fe::1]',
];

/** What a name server might answer. */
const ANSWERS = [
  '127.0.0.1', '127.1.2.3', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1',
  '2002:7f00:1::1', '2001:0:7f00:1::1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '::ffff:169.254.169.254', '100.64.0.1',
  '192.0.2.2', '224.0.0.1', '255.255.255.255', 'fd00::2', 'fe80::1', 'fe80::1%lo', '::1%lo', '2606:4700::1%lo', 'ff02::1', '2001:db8::1',
  '127.1', '0x7f000001', '2130706433', 'localhost', '',
];

/** Addresses written so that a careless reader takes them for another one. {port} is one where something listens. */
const TRICKS = [
  'HTTP://127.0.0.1:{port}/', 'http:127.0.0.1:{port}/', 'http:/127.0.0.1:{port}/', 'http:\\\\127.0.0.1:{port}\\', '  http://127.0.0.1:{port}/ ',
  'ht\ntp://127.0.\t0.1:{port}/', 'http://127.0.0.1:{port}\\@example.org/', 'http://127.0.0.1:{port}#@example.org/', 'http://127.0.0.1:{port}?@example.org/',
  'http://127.0.0.1:{port}/..//example.org/', 'http:///127.0.0.1:{port}/', 'http:////127.0.0.1:{port}/', 'http://@127.0.0.1:{port}/', 'http://:@127.0.0.1:{port}/',
  'http://127.0.0.1:0{port}/', 'https://127.0.0.1:{port}/', 'https://[::1]:{port}/', 'https://2130706433:{port}/', 'https://localhost:{port}/',
];

const NOT_FETCHED = [
  '', ' ', 'example.org', '/etc/passwd', '//127.0.0.1:{port}/', 'http://', 'http:', 'https://?', 'file:///etc/passwd', 'ftp://127.0.0.1:{port}/',
  'gopher://127.0.0.1:{port}/_GET', 'dict://127.0.0.1:{port}/', 'ws://127.0.0.1:{port}/', 'wss://127.0.0.1:{port}/', 'data:text/plain,hello',
  'javascript:alert(1)', 'blob:http://127.0.0.1:{port}/1', 'unix:/var/run/docker.sock', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/', 'about:blank',
  'http://user@127.0.0.1:{port}/', 'http://user:password@127.0.0.1:{port}/', 'http://example.org@127.0.0.1:{port}/', 'http://example.org:80@127.0.0.1:{port}/',
  'http://example.org%2f@127.0.0.1:{port}/', 'http://example.org&@127.0.0.1:{port}/', 'http://a@b@127.0.0.1:{port}/', 'http://127.0.0.1:{port}@example.org/',
  'http://[::1%25lo]:{port}/', 'http://[::1%lo]:{port}/', 'http://[fe80::1%251]:{port}/', 'http://[::1]extra:{port}/', 'http://[::1:{port}/', 'http://::1:{port}/', 'http://%5B::1%5D:{port}/',
  'http://[127.0.0.1]:{port}/', 'http://[::ffff:127.1]:{port}/', 'http://256.256.256.256/', 'http://127.0.0.1.1/', 'http://127.0.0.09/', 'http://4294967296/',
  'http://0x100000000/', 'http://127..0.1/', 'http://127.0.0.1:99999/', 'http://127.0.0.1:{port}x/', 'http://127.0.0.1%00.example.org/', 'http://exa mple.org/',
  'http://127.0.0.1%0d%0a/', 'http://%5b%3a%3a1%5d%00/', 'http://example.org%5c127.0.0.1/',
];

describe('fetch refuses', () => {
  let guard: Guard;
  let origin: { server: Server; port: number };

  before(async () => {
    guard = await guardLoopback();
    origin = await listen((request, response) => {
      const url = new URL(request.url!, 'http://origin.test');
      const to = url.searchParams.get('to');
      if (url.searchParams.has('close')) response.setHeader('connection', 'close');
      if (to === null) return response.end('public');
      response.writeHead(Number(url.searchParams.get('status') ?? 302), { location: Buffer.from(to).toString('latin1') }).end();
    }, ORIGIN === '127.0.0.77' ? ORIGIN : '127.0.0.1');
  });

  after(async () => {
    await stop(origin.server);
    await guard.stop();
  });

  const settings: FetchSettings = {
    allowPrivateAddresses: false, timeoutSeconds: 30, maxBytes: 100_000, maxRedirects: 5, userAgent: 'test',
    isAllowed: (address) => address === ORIGIN || isPublicAddress(address),
    resolve: names({
      'origin.test': [ORIGIN], 'localhost': ['127.0.0.1', '::1'], 'localhost.': ['127.0.0.1'],
    }),
  };

  /** Fetches, and answers with the code of its failure once nothing can have been reached. */
  async function failure(url: string, options?: FetchOptions, changes: Partial<FetchSettings> = {}): Promise<string> {
    const fetch = createFetch({ ...settings, ...changes });
    guard.attempts();
    try {
      const answer = await fetch(url, options);
      return `answered ${answer.status}`;
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      return error.code;
    } finally {
      await fetch.close();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const originUrl = (to: string, extra = '') => `http://origin.test:${origin.port}/?to=${encodeURIComponent(to)}${extra}`;
  const withPort = (text: string, port: number) => text.replaceAll('{port}', String(port));

  function expectNothingReached(attempts: string[] = []): void {
    expect(guard.attempts()).to.equal(attempts);
    expect(guard.reached()).to.equal(0);
  }

  // One port is enough: the guard sees every attempt to connect, whether or not something listens there.
  for (const host of [...LOOPBACK, 'localhost', 'LOCALHOST', 'localhost.', 'loc%61lhost', 'ｌｏｃａｌｈｏｓｔ', ...PRIVATE]) {
    it(`${host} asked directly`, async () => {
      expect(await failure(`http://${host}:${guard.ports[0]}/`)).to.equal('address_refused');
      expectNothingReached();
    });

    it(`${host} behind a redirect`, async () => {
      expect(await failure(originUrl(`http://${host}:${guard.ports[0]}/`))).to.equal('address_refused');
      expectNothingReached([ORIGIN]);
    });

    it(`${host} behind a redirect that keeps scheme, method and body`, async () => {
      expect(await failure(originUrl(`//${host}:${guard.ports[1]}/`, '&status=307'), { method: 'POST', body: 'data' })).to.equal('address_refused');
      expectNothingReached([ORIGIN]);
    });
  }

  for (const address of ANSWERS) {
    it(`a name that resolves to "${address}"`, async () => {
      expect(await failure(`http://name.test:${guard.ports[0]}/`, {}, { resolve: names({ 'name.test': [address] }) })).to.equal('address_refused');
      expectNothingReached();
    });

    it(`a name that resolves to "${address}", over https`, async () => {
      expect(await failure(`https://name.test:${guard.ports[0]}/`, {}, { resolve: names({ 'name.test': [address] }) })).to.equal('address_refused');
      expectNothingReached();
    });

    it(`a name that resolves to a public address and "${address}", whichever comes first`, async () => {
      for (const answers of [[ORIGIN, address], [address, ORIGIN], [ORIGIN, ORIGIN, ORIGIN, ORIGIN, ORIGIN, address]]) {
        expect(await failure(`http://name.test:${origin.port}/`, {}, { resolve: names({ 'name.test': answers }) })).to.equal('address_refused');
      }
      expectNothingReached();
    });

    it(`a name that resolves to a public address first and to "${address}" after a redirect`, async () => {
      const resolve = names({ 'name.test': [[ORIGIN], [address]] });
      expect(await failure(`http://name.test:${origin.port}/?close&to=${encodeURIComponent('/again')}`, {}, { resolve })).to.equal('address_refused');
      expectNothingReached([ORIGIN]);
    });
  }

  for (const trick of TRICKS) {
    it(`${JSON.stringify(trick)}`, async () => {
      expect(await failure(withPort(trick, guard.ports[0]!))).to.equal('address_refused');
      expectNothingReached();
    });
  }

  for (const url of NOT_FETCHED) {
    it(`${JSON.stringify(url)} as an address that cannot be fetched`, async () => {
      expect(await failure(withPort(url, guard.ports[0]!))).to.equal('bad_url');
      expectNothingReached();
    });
  }

  for (const url of NOT_FETCHED.filter((text) => /^[a-z+]+:\/\/./i.test(text) && text !== 'https://?')) {
    it(`a redirect to ${JSON.stringify(url)}`, async () => {
      expect(await failure(originUrl(withPort(url, guard.ports[0]!)))).to.equal('bad_url');
      expectNothingReached([ORIGIN]);
    });
  }

  it('a name that changes between two calls, though the first was answered', async () => {
    const fetch = createFetch({ ...settings, resolve: names({ 'name.test': [[ORIGIN], ['127.0.0.1']] }) });
    expect((await fetch(`http://name.test:${origin.port}/?close`)).text()).to.equal('public');
    await expect(fetch(`http://name.test:${origin.port}/`)).to.reject(FetchError, /allow_private_addresses/);
    await fetch.close();
    expectNothingReached([ORIGIN]);
  });

  it('each of twenty calls at once when a name changes while they wait', async () => {
    const fetch = createFetch({ ...settings, resolve: names({ 'name.test': [['10.0.0.1'], ['127.0.0.1']] }) });
    const calls = await Promise.allSettled(Array.from({ length: 20 }, () => fetch(`http://name.test:${guard.ports[0]}/`)));
    expect(calls.map((call) => call.status === 'rejected' && call.reason.code)).to.equal(Array(20).fill('address_refused'));
    await fetch.close();
    expectNothingReached();
  });

  it('a private address at the end of a chain of public redirects', async () => {
    let url = `http://127.0.0.1:${guard.ports[0]}/`;
    for (let i = 0; i < 4; i++) url = originUrl(url);
    expect(await failure(url)).to.equal('address_refused');
    expect(new Set(guard.attempts())).to.equal(new Set([ORIGIN]));
    expectNothingReached();
  });

  it('localhost as the system resolves it', async () => {
    const fetch = createFetch({ allowPrivateAddresses: false, timeoutSeconds: 30, maxBytes: 1000, maxRedirects: 5, userAgent: 'test' });
    for (const host of ['localhost', 'LocalHost', 'localhost.']) await expect(fetch(`http://${host}:${guard.ports[0]}/`)).to.reject(FetchError);
    await fetch.close();
    expectNothingReached();
  });

  it('a private address in words that name the setting and hide the network', async () => {
    const logged: unknown[] = [];
    const log = { warn: (fields: object) => logged.push(fields) } as unknown as FetchSettings['log'];
    const fetch = createFetch({ ...settings, log, resolve: names({ 'intranet.test': ['10.20.30.40'] }) });
    const error = await expect(fetch('http://intranet.test/')).to.reject(FetchError);
    expect(error.message).to.include(['intranet.test', 'http.fetch.allow_private_addresses', 'CIVIC_HTTP_FETCH_ALLOW_PRIVATE_ADDRESSES']);
    expect(error.message).not.to.include('10.20.30.40');
    expect(logged).to.equal([{ host: 'intranet.test', address: '10.20.30.40' }]);
    await fetch.close();
  });

  it('with the very address that would be connected to, and asks about nothing else', async () => {
    const asked: string[] = [];
    const isAllowed = (address: string) => { asked.push(address); return false; };
    for (const url of ['http://name.test/', 'https://93.184.215.14/', 'http://0x5db8d70e:8080/', 'http://[2606:2800:21f::1]/']) {
      expect(await failure(url, {}, { isAllowed, resolve: names({ 'name.test': ['93.184.215.14', '2606:2800:21f::1'] }) })).to.equal('address_refused');
    }
    expect(asked).to.equal(['93.184.215.14', '93.184.215.14', '93.184.215.14', '2606:2800:21f::1']);
    expectNothingReached();
  });

  it('any spelling of any private IPv4 address', { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(privateIPv4, spelling, async (address, spell) => {
      const host = spell(address);
      expect(new URL(`http://${host}/`).hostname).to.equal(dotted(address));
      expect(await failure(`http://${host}:${guard.ports[0]}/`)).to.equal('address_refused');
    }), { numRuns: 60 * RUNS });
    expectNothingReached();
  });

  it('any spelling of any IPv6 address that wraps a private IPv4 one', { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(privateIPv4, wrapping, fc.boolean(), async (address, wrap, isUpper) => {
      const host = isUpper ? wrap(address).toUpperCase() : wrap(address);
      expect(await failure(`http://[${host}]:${guard.ports[0]}/`)).to.equal('address_refused');
    }), { numRuns: 60 * RUNS });
    expectNothingReached();
  });

  it('any host at all whose normal form is a private address', { timeout: 60_000 }, async () => {
    const characters = fc.constantFrom(...'0127.x8fF６％７。:[]@%2e-a');
    await fc.assert(fc.asyncProperty(fc.string({ unit: characters, minLength: 1, maxLength: 14 }), async (host) => {
      const url = `http://${host}/`;
      const plain = parseUrl(url)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
      if (isPublicAddress(plain)) return;
      expect(await failure(url)).to.match(/^(address_refused|bad_url|unreachable)$/);
    }), { numRuns: 120 * RUNS });
    expectNothingReached();
  });

  it('without having let one packet through', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    expectNothingReached();
  });
});

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}

/** Inside a private network: its first address, and how many there are. */
const privateIPv4 = fc.constantFrom([0x7f000000, 2 ** 24], [0x0a000000, 2 ** 24], [0xac100000, 2 ** 20], [0xc0a80000, 2 ** 16], [0xa9fe0000, 2 ** 16], [0, 2 ** 24], [0x64400000, 2 ** 22], [0xe0000000, 2 ** 29])
  .chain(([first, count]) => fc.integer({ min: 0, max: count! - 1 }).map((offset) => first! + offset));

const number = fc.constantFrom(
  (value: number) => String(value),
  (value: number) => `0x${value.toString(16)}`,
  (value: number) => `0X000${value.toString(16).toUpperCase()}`,
  (value: number) => `0${value.toString(8)}`,
  (value: number) => `000${value.toString(8)}`,
);
const disguise = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.replace(/[0-9a-z]/gi, (character) => `%${character.charCodeAt(0).toString(16)}`),
  (text: string) => text.replace(/[0-9a-z]/gi, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  (text: string) => text.replaceAll('.', '。'),
);

/** A way to write an IPv4 address: in one to four parts, each in one of three bases, in one of several scripts, with or without a last dot. */
const spelling = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.array(number, { minLength: 4, maxLength: 4 }), disguise, fc.constantFrom('', '.'))
  .map(([parts, bases, hide, end]) => (address: number) => {
    const leading = [24, 16, 8].slice(0, parts - 1).map((shift) => (address >>> shift) & 0xff);
    const last = parts === 1 ? address : address % 2 ** (8 * (5 - parts));
    return hide([...leading, last].map((value, i) => bases[i]!(value)).join('.') + end);
  });

const halves = (address: number): [string, string] => [(address >>> 16).toString(16), (address & 0xffff).toString(16)];
const wrapping = fc.constantFrom(
  (address: number) => `::ffff:${dotted(address)}`,
  (address: number) => `0:0:0:0:0:ffff:${halves(address).join(':')}`,
  (address: number) => `::${dotted(address)}`,
  (address: number) => `64:ff9b::${dotted(address)}`,
  (address: number) => `0064:ff9b:0:0:0:0:${halves(address).join(':')}`,
  (address: number) => `64:ff9b:1::${dotted(address)}`,
  (address: number) => `2002:${halves(address).join(':')}::1`,
  (address: number) => `2001:0:${halves(address).join(':')}::`,
  (address: number) => `::ffff:0:${dotted(address)}`,
);

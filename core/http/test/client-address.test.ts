import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { slowness } from '../../test/wait.ts';
import { addressGroup, clientAddress, parseTrustedProxy } from '../client-address.ts';

export const lab = Lab.script();
const { describe, it } = lab;

interface Case {
  says: string;
  trusted: string[];
  peer: string;
  header?: string | string[];
  client: string;
}

const CASES: Case[] = [
  { says: 'is the peer when nothing is trusted', trusted: [], peer: '198.51.100.7', header: '1.2.3.4', client: '198.51.100.7' },
  { says: 'is the peer when there is no header', trusted: ['loopback'], peer: '127.0.0.1', client: '127.0.0.1' },
  { says: 'is the peer when the peer is not trusted', trusted: ['10.0.0.0/8'], peer: '198.51.100.7', header: '1.2.3.4', client: '198.51.100.7' },
  { says: 'is a local peer when local ones are not trusted', trusted: ['10.0.0.0/8'], peer: '127.0.0.1', header: '1.2.3.4', client: '127.0.0.1' },
  { says: 'is the entry of one trusted proxy', trusted: ['loopback'], peer: '127.0.0.1', header: '198.51.100.7', client: '198.51.100.7' },
  { says: 'is the entry of a trusted proxy over IPv6', trusted: ['loopback'], peer: '::1', header: '2001:db8::7', client: '2001:db8::7' },
  { says: 'is the entry of a trusted peer written as mapped IPv6', trusted: ['127.0.0.1'], peer: '::ffff:127.0.0.1', header: '198.51.100.7', client: '198.51.100.7' },
  { says: 'is a peer written as mapped IPv6, as IPv4', trusted: [], peer: '::ffff:198.51.100.7', client: '198.51.100.7' },
  { says: 'is a peer without its zone', trusted: [], peer: 'fe80::1%eth0', client: 'fe80::1' },
  { says: 'is not what a client claims behind one proxy', trusted: ['loopback'], peer: '127.0.0.1', header: '1.1.1.1, 198.51.100.7', client: '198.51.100.7' },
  { says: 'is not a trusted address that a client claims', trusted: ['loopback', 'private'], peer: '127.0.0.1', header: '10.0.0.1, 198.51.100.7', client: '198.51.100.7' },
  { says: 'is found behind two trusted proxies', trusted: ['loopback', 'private'], peer: '127.0.0.1', header: '198.51.100.7, 10.0.0.2', client: '198.51.100.7' },
  { says: 'is found behind three trusted proxies, and no further', trusted: ['private'], peer: '10.0.0.1', header: '6.6.6.6, 198.51.100.7, 10.0.0.3, 192.168.1.2', client: '198.51.100.7' },
  { says: 'is the first hop that is not trusted', trusted: ['10.0.0.1', '10.0.0.2'], peer: '10.0.0.1', header: '198.51.100.7, 10.0.0.3, 10.0.0.2', client: '10.0.0.3' },
  { says: 'is the leftmost entry when all hops are trusted', trusted: ['private'], peer: '10.0.0.1', header: '192.168.0.9, 10.0.0.2', client: '192.168.0.9' },
  { says: 'is read from several headers in their order', trusted: ['private'], peer: '10.0.0.1', header: ['6.6.6.6', '198.51.100.7', '10.0.0.2'], client: '198.51.100.7' },
  { says: 'is read without spaces or with many', trusted: ['private'], peer: '10.0.0.1', header: '6.6.6.6,  \t198.51.100.7  ,10.0.0.2', client: '198.51.100.7' },
  { says: 'is read without its port', trusted: ['loopback'], peer: '127.0.0.1', header: '198.51.100.7:4711', client: '198.51.100.7' },
  { says: 'is read without its brackets', trusted: ['loopback'], peer: '127.0.0.1', header: '[2001:db8::7]', client: '2001:db8::7' },
  { says: 'is read without its brackets and port', trusted: ['loopback'], peer: '127.0.0.1', header: '[2001:db8::7]:443', client: '2001:db8::7' },
  { says: 'is read without its zone', trusted: ['loopback'], peer: '127.0.0.1', header: 'fe80::7%eth1', client: 'fe80::7' },
  { says: 'is written in one way', trusted: ['loopback'], peer: '127.0.0.1', header: '2001:0DB8:0:0:0:0:0:0007', client: '2001:db8::7' },
  { says: 'is IPv4 where the entry is mapped', trusted: ['loopback'], peer: '127.0.0.1', header: '::ffff:c633:6407', client: '198.51.100.7' },
  { says: 'is found behind a proxy that writes mapped addresses', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7, ::ffff:10.0.0.2', client: '198.51.100.7' },
  { says: 'is the last good hop before "unknown"', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7, unknown, 10.0.0.2', client: '10.0.0.2' },
  { says: 'is the last good hop before an empty entry', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7, , 10.0.0.2', client: '10.0.0.2' },
  { says: 'is the peer when the header is empty', trusted: ['private'], peer: '10.0.0.1', header: '', client: '10.0.0.1' },
  { says: 'is the peer when the header ends in a comma', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7,', client: '10.0.0.1' },
  { says: 'is the peer when the last entry is a name', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7, proxy.example.org', client: '10.0.0.1' },
  { says: 'is the peer when the last entry is an odd spelling', trusted: ['private'], peer: '10.0.0.1', header: '0x7f.1', client: '10.0.0.1' },
  { says: 'is the peer when the last entry is half an address', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.', client: '10.0.0.1' },
  { says: 'is the peer when a port is no number', trusted: ['private'], peer: '10.0.0.1', header: '198.51.100.7:http', client: '10.0.0.1' },
  { says: 'is the peer when brackets do not close', trusted: ['private'], peer: '10.0.0.1', header: '[2001:db8::7', client: '10.0.0.1' },
  { says: 'is the peer when two entries lack their comma', trusted: ['private'], peer: '10.0.0.1', header: '6.6.6.6 198.51.100.7', client: '10.0.0.1' },
  { says: 'is the peer when an entry is markup', trusted: ['private'], peer: '10.0.0.1', header: '<script>', client: '10.0.0.1' },
  { says: 'is the peer as it is when that is no address', trusted: ['loopback'], peer: '', header: '198.51.100.7', client: '' },
  { says: 'is found by a single trusted IPv6 address', trusted: ['2001:db8::1'], peer: '2001:db8::1', header: '198.51.100.7', client: '198.51.100.7' },
  { says: 'is found by a trusted IPv6 network', trusted: ['2001:db8::/32'], peer: '2001:db8:ffff::1', header: '198.51.100.7', client: '198.51.100.7' },
  { says: 'is the peer just outside a trusted network', trusted: ['10.0.0.0/9'], peer: '10.128.0.0', header: '198.51.100.7', client: '10.128.0.0' },
];

describe('the client address', () => {
  for (const { says, trusted, peer, header, client } of CASES) {
    it(says, () => {
      const list = trusted.flatMap(parseTrustedProxy);
      expect(clientAddress({ remoteAddress: peer, forwardedFor: header }, list)).to.equal(client);
    });
  }

  it('cannot be chosen by what a client writes, whatever it writes', () => {
    const trusted = ['loopback', 'private'].flatMap(parseTrustedProxy);
    const forged = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom('127.0.0.1', '10.0.0.1', 'unknown', ',', '', '[', '"'));
    fc.assert(fc.property(fc.array(forged), fc.subarray(['10.0.0.2', '192.168.3.4']), (entries, proxies) => {
      const forwardedFor = [...entries, '198.51.100.7', ...proxies].join(', ');
      expect(clientAddress({ remoteAddress: '127.0.0.1', forwardedFor }, trusted)).to.equal('198.51.100.7');
    }));
  });

  it('is found in microseconds', () => {
    const trusted = ['loopback', 'private'].flatMap(parseTrustedProxy);
    const started = process.cpuUsage();
    for (let i = 0; i < 20_000; i++) clientAddress({ remoteAddress: '127.0.0.1', forwardedFor: '198.51.100.7' }, trusted);
    expect(process.cpuUsage(started).user / 20_000).to.be.below(100 * slowness);
  });
});

describe('trusted proxies', () => {
  const BAD: [entry: string, message: RegExp][] = [
    ['proxy.example.org', /"proxy\.example\.org" is not an address/],
    ['', /"" is not an address/],
    ['10.0.0.0/33', /"10\.0\.0\.0\/33" is not an address/],
    ['10.0.0/8', /"10\.0\.0\/8" is not an address/],
    ['010.0.0.0/8', /"010\.0\.0\.0\/8" is not an address/],
    ['Loopback', /"Loopback" is not an address/],
    ['constructor', /"constructor" is not an address/],
    ['fe80::1%eth0', /"fe80::1%eth0" is not an address/],
    ['10.0.0.1/8', /"10\.0\.0\.1\/8" is an address inside a network: write 10\.0\.0\.0\/8/],
    ['10.129.0.0/9', /write 10\.128\.0\.0\/9/],
    ['2001:db8::1/32', /write 2001:db8::\/32/],
    ['0.0.0.0/0', /"0\.0\.0\.0\/0" would trust everybody/],
    ['::/0', /"::\/0" would trust everybody/],
    ['::ffff:10.0.0.1', /"::ffff:10\.0\.0\.1" is an IPv4 address in IPv6 clothes/],
  ];
  for (const [entry, message] of BAD) {
    it(`refuse ${JSON.stringify(entry)} by name, also behind good entries`, () => {
      expect(() => parseTrustedProxy(entry)).to.throw(message);
    });
  }

});

describe('the group rate limits count by', () => {
  const GROUPS: [address: string, group: string][] = [
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:FFFF::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
    ['not:an:address', 'not:an:address'],
  ];
  for (const [address, group] of GROUPS) it(`is ${JSON.stringify(group)} for ${JSON.stringify(address)}`, () => { expect(addressGroup(address)).to.equal(group); });
});

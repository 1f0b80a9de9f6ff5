import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { BlockList } from 'node:net';
import { slowness } from '../../test/wait.ts';
import { isInRange, isPublicAddress, parseAddress, parseRange } from '../addresses.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** A network, the last address before it and the first behind it, when those are public. */
const EDGES: [network: string, first: string, last: string, before: string | null, behind: string | null][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4 and 240.0.0.0/4', '224.0.0.0', '255.255.255.255', '223.255.255.255', null],
  ['everything before 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['everything behind 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
];

const PUBLIC = [
  '1.1.1.1', '8.8.8.8', '93.184.215.14', '192.31.196.1', '192.52.193.1', '192.175.48.1', '2606:4700:4700::1111', '2001:4860:4860::8888',
  '2a00:1450:4001:800::200e', '2620:4f:8000::1', '2400:cb00::1', '::ffff:8.8.8.8', '::FFFF:808:808', '64:ff9b::8.8.8.8', '64:ff9b::808:808', '2002:808:808::1',
];

const NOT_PUBLIC = [
  '::1', '::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '::8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::10.0.0.1', '64:ff9b:1::8.8.8.8', '64:ff9b:0:1::8.8.8.8',
  '100::1', '2001::1', '2001:0:808:808::1', '2001:1::1', '2001:1::2', '2001:2::1', '2001:20::1', '2002:a00:1::1', '2002:7f00:1::', '2002:a9fe:a9fe::', '5f00::1',
  'fc00::1', 'fd12:3456::1', 'fe80::1', 'fec0::1', 'ff02::1', 'fe80::1%eth0', '8.8.8.8%eth0', '2606:4700::1%1', '2606:4700::1%',
];

const NO_ADDRESS = ['', ' ', '8.8.8', '8.8.8.8.', '08.8.8.8', '0x8.8.8.8', '134744072', ' 8.8.8.8', '8.8.8.8 ', '8.8.8.8:80', '[2606::1]', '2606::1::', ':::', '1:2:3:4:5:6:7', 'example.org', '8.8.8.256', '8.8.8.8/32', '８.8.8.8'];

describe('public addresses', () => {
  for (const [network, first, last, before, behind] of EDGES) {
    it(`are not in ${network}, and begin right beside it`, () => {
      expect([first, last].map(isPublicAddress)).to.equal([false, false]);
      for (const address of [before, behind]) if (address !== null) expect(isPublicAddress(address), address).to.be.true();
    });
  }

  for (const address of PUBLIC) it(`include ${address}`, () => { expect(isPublicAddress(address)).to.be.true(); });
  for (const address of NOT_PUBLIC) it(`do not include ${address}`, () => { expect(isPublicAddress(address)).to.be.false(); });
  for (const text of NO_ADDRESS) it(`do not include ${JSON.stringify(text)}, which is no address`, () => {
    expect(parseAddress(text)).to.be.null();
    expect(isPublicAddress(text)).to.be.false();
  });

  it('are recognised in microseconds', () => {
    const addresses = ['93.184.215.14', '2606:4700:4700::1111', '::ffff:10.0.0.1', '192.168.0.1'];
    const started = process.cpuUsage();
    for (let i = 0; i < 20_000; i++) isPublicAddress(addresses[i & 3]!);
    const { user } = process.cpuUsage(started);
    expect(user / 20_000).to.be.below(100 * slowness);
  });
});

describe('addresses', () => {
  it('are read as bytes, however they are written', () => {
    const bytes = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1];
    for (const text of ['2001:db8::c000:201', '2001:DB8::192.0.2.1', '2001:0db8:0000:0:0:0:c000:0201', '2001:db8:0:0::192.0.2.1%eth0']) {
      expect([...parseAddress(text)!], text).to.equal(bytes);
    }
    expect([...parseAddress('192.0.2.1')!]).to.equal([192, 0, 2, 1]);
    expect([...parseAddress('1::')!]).to.equal([0, 1, ...Array(14).fill(0)]);
  });

  it('are in the same ranges as Node says', () => {
    const ipv6 = fc.ipV6();
    fc.assert(fc.property(ipv6, ipv6, fc.integer({ min: 0, max: 128 }), (address, network, bits) => {
      const list = new BlockList();
      list.addSubnet(network, bits, 'ipv6');
      const range = parseRange(`${network}/${bits}`)!;
      expect(isInRange(parseAddress(network)!, range)).to.be.true();
      expect(isInRange(parseAddress(address)!, range)).to.equal(list.check(address, 'ipv6'));
    }));
    fc.assert(fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, network, bits) => {
      const list = new BlockList();
      list.addSubnet(network, bits, 'ipv4');
      expect(isInRange(parseAddress(address)!, parseRange(`${network}/${bits}`)!)).to.equal(list.check(address, 'ipv4'));
    }));
  });

  for (const text of ['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8.0', '10.0.0.0/0x8', '10.0.0.0/255.0.0.0', 'fe80::%lo/10', '/8', '10/8']) {
    it(`do not make a network of ${text}`, () => { expect(parseRange(text)).to.be.null(); });
  }
});

import { isIPv4, isIPv6 } from 'node:net';

/** A network: its address as bytes, and how many leading bits count. */
export interface Range {
  bytes: Uint8Array;
  bits: number;
}

function pairs(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The bytes of an address, 4 or 16; a zone (`%eth0`) is left out. Null when it is not an address. */
export function parseAddress(text: string): Uint8Array | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  const zone = text.indexOf('%');
  const address = zone === -1 ? text : text.slice(0, zone);
  if (!isIPv6(address)) return null;
  const [head = '', tail = ''] = address.split('::');
  const bytes = new Uint8Array(16);
  const end = pairs(tail);
  bytes.set(pairs(head));
  bytes.set(end, 16 - end.length);
  return bytes;
}

/** A network in CIDR notation, or a single address. Null when it is neither. */
export function parseRange(text: string): Range | null {
  const [address = '', length, ...rest] = text.split('/');
  const bytes = address.includes('%') ? null : parseAddress(address);
  if (!bytes || rest.length > 0) return null;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  return bits <= bytes.length * 8 ? { bytes, bits } : null;
}

export function isInRange(address: Uint8Array, { bytes, bits }: Range): boolean {
  if (address.length !== bytes.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== bytes[i]) return false;
  const left = bits & 7;
  return left === 0 || (address[whole]! ^ bytes[whole]!) >> (8 - left) === 0;
}

/** Fixed lists of networks; a spelling mistake in one stops the process when it starts. */
export function ranges(...texts: string[]): Range[] {
  return texts.map((text) => parseRange(text) ?? raise(`${text} is not a network`));
}

function raise(message: string): never {
  throw new Error(message);
}

// What the IANA special-purpose registries call not globally reachable. Anycast addresses inside 192.0.0.0/24 and
// 2001::/23 are refused too: they lead to the nearest NAT box, not to a web server. 168.63.129.16 is a cloud's metadata.
const SPECIAL_IPV4 = ranges(
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32',
);
// Only 2000::/3 is handed out to the public, so everything outside it needs no name.
const [GLOBAL_IPV6] = ranges('2000::/3') as [Range];
const SPECIAL_IPV6 = ranges('2001::/23', '2001:db8::/32', '3fff::/20');
const [MAPPED, NAT64, SIX_TO_FOUR] = ranges('::ffff:0:0/96', '64:ff9b::/96', '2002::/16') as [Range, Range, Range];

/** An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) as the IPv4 it stands for; any other as it is. */
export function unmapped(bytes: Uint8Array): Uint8Array {
  return isInRange(bytes, MAPPED) ? bytes.subarray(12) : bytes;
}

/** The IPv4 address that packets to this one end up at. */
function reachedIPv4(bytes: Uint8Array): Uint8Array | null {
  if (bytes.length === 4) return bytes;
  if (isInRange(bytes, MAPPED) || isInRange(bytes, NAT64)) return bytes.subarray(12);
  return isInRange(bytes, SIX_TO_FOUR) ? bytes.subarray(2, 6) : null;
}

/** Whether an address belongs to the public internet: not to this machine, its network, or a reserved block. */
export function isPublicAddress(address: string): boolean {
  const bytes = address.includes('%') ? null : parseAddress(address);
  if (!bytes) return false;
  const ipv4 = reachedIPv4(bytes);
  if (ipv4) return !SPECIAL_IPV4.some((range) => isInRange(ipv4, range));
  return isInRange(bytes, GLOBAL_IPV6) && !SPECIAL_IPV6.some((range) => isInRange(bytes, range));
}

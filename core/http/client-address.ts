import { SocketAddress } from 'node:net';
import { isInRange, parseAddress, parseRange, ranges, unmapped, type Range } from './addresses.ts';

/** The networks whose word about the client counts. */
export type TrustedProxies = readonly Range[];

const NAMED: Record<string, Range[]> = {
  loopback: ranges('127.0.0.0/8', '::1'),
  private: ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'),
};

/** Reads an entry of `http.trusted_proxies`: addresses, networks in CIDR notation, `loopback` and `private`. */
export function parseTrustedProxy(entry: string): Range[] {
  return Object.hasOwn(NAMED, entry) ? NAMED[entry]! : [trustedRange(entry)];
}

function trustedRange(entry: string): Range {
  const range = parseRange(entry);
  if (!range) throw new Error(`"${entry}" is not an address, a network such as 10.0.0.0/8, "loopback" or "private"`);
  if (range.bits === 0) throw new Error(`"${entry}" would trust everybody, and so let every client choose its own address`);
  const network = range.bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, range.bits - i * 8))));
  if (!range.bytes.every((byte, i) => byte === network[i])) throw new Error(`"${entry}" is an address inside a network: write ${format(network)}/${range.bits}`);
  if (unmapped(network) !== network) throw new Error(`"${entry}" is an IPv4 address in IPv6 clothes: write it as IPv4`);
  return range;
}

/**
 * The address a request came from. Each trusted proxy appends its peer to X-Forwarded-For, so the list is walked from
 * the right for as long as the hop that wrote the entry is trusted; whatever a client wrote itself lies further left
 * and is never reached. An entry that is no address ends the walk. X-Forwarded-Proto and -Host are not read at all:
 * `public_url` says where the instance is.
 */
export function clientAddress(from: { remoteAddress: string; forwardedFor?: string | string[] | undefined }, trusted: TrustedProxies): string {
  // The system writes addresses in their normal form already, save for these two.
  const peer = from.remoteAddress.replace(/^::ffff:(?=\d+\.)|%.*$/g, '');
  if (from.forwardedFor === undefined || trusted.length === 0) return peer;
  let client = parseAddress(peer);
  if (!client || !isTrusted(client, trusted)) return peer;
  const entries = String(from.forwardedFor).split(',');
  for (let entry = entries.pop(); entry !== undefined && isTrusted(client, trusted); entry = entries.pop()) {
    const hop = parseEntry(entry);
    if (!hop) break;
    client = hop;
  }
  return format(client);
}

function isTrusted(address: Uint8Array, trusted: TrustedProxies): boolean {
  return trusted.some((range) => isInRange(address, range));
}

const ENTRY = /^\s*(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([^\s[\]]+))\s*$/;

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`. */
function parseEntry(entry: string): Uint8Array | null {
  const parts = ENTRY.exec(entry);
  const bytes = parts && parseAddress(parts[1] ?? parts[2] ?? parts[3]!);
  return bytes && unmapped(bytes);
}

function hex(bytes: Uint8Array): string {
  const groups = [];
  for (let i = 0; i < bytes.length; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16));
  return groups.join(':');
}

function format(bytes: Uint8Array): string {
  return bytes.length === 4 ? bytes.join('.') : new SocketAddress({ address: hex(bytes), family: 'ipv6' }).address;
}

/** What rate limits count by: an IPv4 address, or the /64 that one IPv6 customer has at the least. */
export function addressGroup(address: string): string {
  const bytes = address.includes(':') ? parseAddress(address) : null;
  if (!bytes) return address;
  const plain = unmapped(bytes);
  return plain.length === 4 ? format(plain) : `${hex(plain.subarray(0, 8))}::/64`;
}

import { generateKeyPairSync, sign } from 'node:crypto';

function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}

/** A self-signed certificate for one host name, made anew for each run so that no key is kept anywhere. */
export function selfSigned(host: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, host))));
  const validity = sequence(der(0x17, '200101000000Z'), der(0x17, '491231235959Z'));
  const alternativeNames = sequence(oid('551d11'), der(0x04, sequence(der(0x82, host))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), der(0x02, Buffer.from([1])), ecdsaWithSha256, name, validity, name,
    publicKey.export({ type: 'spki', format: 'der' }), der(0xa3, sequence(alternativeNames)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert: pem('CERTIFICATE', sequence(content, ecdsaWithSha256, signature)) };
}

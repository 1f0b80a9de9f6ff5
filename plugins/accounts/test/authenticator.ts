import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A passkey made of software: what a phone or a security key would answer, and what a forged one might. */
export interface Authenticator {
  id: string;
  create(options: { challenge: string; user: { id: string } }, forged?: Forged): object;
  get(options: { challenge: string }, forged?: Forged & { counter?: number; userHandle?: string }): object;
}

interface Forged {
  origin?: string;
  challenge?: string;
}

const hash = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const [PRESENT_AND_VERIFIED, WITH_KEY] = [0x05, 0x45];

export function authenticator(publicUrl: string): Authenticator {
  const { origin, hostname } = new URL(publicUrl);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  let counter = 0;
  let user = '';

  const clientData = (type: string, challenge: string, from: string): Buffer => Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const authData = (flags: number, count: number, rest = Buffer.alloc(0)): Buffer => {
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(count);
    return Buffer.concat([hash(hostname), Buffer.from([flags]), counted, rest]);
  };
  /** In CBOR: a key of the kind ES256. */
  const coseKey = Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), Buffer.from(x!, 'base64url'), Buffer.from('225820', 'hex'), Buffer.from(y!, 'base64url')]);
  const shown = (response: object): object => ({ id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key', clientExtensionResults: {}, response });

  return {
    id: id.toString('base64url'),
    create(options, forged = {}) {
      user = options.user.id;
      const data = authData(WITH_KEY, counter, Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseKey]));
      const attestation = Buffer.concat([Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'), Buffer.from([0x58, data.length]), data]);
      const client = clientData('webauthn.create', forged.challenge ?? options.challenge, forged.origin ?? origin);
      return shown({ clientDataJSON: client.toString('base64url'), attestationObject: attestation.toString('base64url'), transports: ['internal'] });
    },
    get(options, forged = {}) {
      counter = forged.counter ?? counter + 1;
      const data = authData(PRESENT_AND_VERIFIED, counter);
      const client = clientData('webauthn.get', forged.challenge ?? options.challenge, forged.origin ?? origin);
      const signature = sign('sha256', Buffer.concat([data, hash(client)]), privateKey);
      return shown({ clientDataJSON: client.toString('base64url'), authenticatorData: data.toString('base64url'), signature: signature.toString('base64url'), userHandle: forged.userHandle ?? user });
    },
  };
}

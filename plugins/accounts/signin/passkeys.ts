import type { Request } from '@hapi/hapi';
import { lazily, clientAddressOf, newId, type Civic, type Tx } from 'civic';
import type { AuthenticationResponseJSON, PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { AuditEntry } from '../audit/store.ts';
import type { Notify } from '../notices/notices.ts';
import { personByKey, type PersonRow } from '../people/store.ts';
import type { Doer } from '../types.ts';
import type { RelyingParty } from './party.ts';
import { insertCeremony, insertPasskey, markPasskeyUsed, passkeyById, passkeysOf, takeCeremony, type CeremonyRow, type PasskeyRow } from './passkeys-store.ts';

/** What a browser needs to begin: our id of the ceremony, and WebAuthn's options. */
export interface Begun<Options> {
  ceremony: string;
  options: Options;
}

/** What a page sends back when the ceremony is over. */
export interface Answer<Response> {
  ceremony: string;
  response: Response;
}

export interface Passkeys {
  beginAdding(person: PersonRow): Promise<Begun<PublicKeyCredentialCreationOptionsJSON>>;
  /** Adds the passkey in the transaction of `then`; false when the answer is not good. */
  add(person: PersonRow, answer: Answer<RegistrationResponseJSON>, name: string, by: Doer, then: (tx: Tx) => Promise<void>): Promise<boolean>;
  beginSignIn(): Promise<Begun<PublicKeyCredentialRequestOptionsJSON>>;
  /** Whose passkey answered, or null when the answer is not good. */
  signIn(answer: Answer<AuthenticationResponseJSON>, address: string): Promise<PersonRow | null>;
  has(person: PersonRow): Promise<boolean>;
  beginConfirming(person: PersonRow): Promise<Begun<PublicKeyCredentialRequestOptionsJSON>>;
  /** Returns whether a passkey of this account signed the challenge. */
  confirm(person: PersonRow, answer: Answer<AuthenticationResponseJSON>, request: Request): Promise<boolean>;
}

export interface PasskeysContext {
  civic: Pick<Civic, 'clock' | 'instance' | 'log'> & { readonly db: Civic['db'] };
  party: RelyingParty;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  notify: Notify;
}

const CEREMONY_MS = 5 * 60_000;
const CREDENTIAL_ID = /^[\w-]+$/;
const library = lazily(() => import('@simplewebauthn/server'));

export function createPasskeys({ civic, party, record, notify }: PasskeysContext): Passkeys {
  const { clock } = civic;

  async function begin<Options extends { challenge: string }>(kind: CeremonyRow['kind'], accountKey: number | null, options: Options): Promise<Begun<Options>> {
    const id = newId(clock.now());
    const expires_at = new Date(clock.now() + CEREMONY_MS).toISOString();
    await civic.db.write((tx) => insertCeremony(tx, { id, kind, account_key: accountKey, challenge: options.challenge, expires_at }));
    return { ceremony: id, options };
  }

  const take = (id: string, kind: CeremonyRow['kind']): Promise<CeremonyRow | null> => civic.db.write((tx) => takeCeremony(tx, id, kind, clock.iso()));

  async function checkedRegistration(response: RegistrationResponseJSON, expectedChallenge: string) {
    const { verifyRegistrationResponse } = await library();
    const { verified, registrationInfo } = await verifyRegistrationResponse({ response, expectedChallenge, expectedOrigin: party.origin, expectedRPID: party.id });
    return verified ? registrationInfo.credential : null;
  }

  async function checkedCounter(response: AuthenticationResponseJSON, expectedChallenge: string, passkey: PasskeyRow): Promise<number | null> {
    const { verifyAuthenticationResponse } = await library();
    const credential = { id: passkey.id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter };
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({ response, expectedChallenge, expectedOrigin: party.origin, expectedRPID: party.id, credential });
    return verified ? authenticationInfo.newCounter : null;
  }

  /** The library tells what is wrong by throwing. The reader is told that it failed, the log why. */
  async function orNull<T>(what: string, check: Promise<T>): Promise<T | null> {
    try {
      return await check;
    } catch (error) {
      civic.log.info({ reason: (error as Error).message }, `${what} was refused`);
      return null;
    }
  }

  /** The account whose passkey signed the challenge; null when the response is invalid. */
  async function answered(response: AuthenticationResponseJSON, { challenge }: CeremonyRow, address: string): Promise<PersonRow | null> {
    const id = String(response.id);
    const passkey = CREDENTIAL_ID.test(id) ? await passkeyById(civic.db.read, id) : null;
    const person = passkey && await personByKey(civic.db.read, passkey.account_key);
    if (!person || person.disabled_at !== null || !isHandleOf(person, response.response?.userHandle)) return null;
    const counter = await orNull('A passkey', checkedCounter(response, challenge, passkey));
    const isUsed = counter !== null && await civic.db.write((tx) => markPasskeyUsed(tx, passkey, counter, clock.iso()));
    if (isUsed) return person;
    await civic.db.write((tx) => record(tx, { kind: 'sign_in_refused', by: { account_id: person.id, address }, subject: person.id, detail: { passkey: passkey.name } }));
    return null;
  }

  return {
    async beginAdding(person) {
      const { generateRegistrationOptions } = await library();
      const known = await passkeysOf(civic.db.read, person.key);
      const options = await generateRegistrationOptions({
        rpName: civic.instance.name, rpID: party.id, userName: person.email ?? person.name, userDisplayName: person.name,
        userID: new Uint8Array(handleOf(person)),
        excludeCredentials: known.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) as string[] })),
        // Found again without a name being typed, and opened by a finger, a face or a PIN.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return begin('register', person.key, options);
    },
    async add(person, { ceremony, response }, name, by, then) {
      const begun = await take(ceremony, 'register');
      if (begun?.account_key !== person.key) return false;
      const credential = await orNull('A new passkey', checkedRegistration(response, begun.challenge));
      if (!credential || await passkeyById(civic.db.read, credential.id)) return false;
      await civic.db.write(async (tx) => {
        await insertPasskey(tx, {
          id: credential.id, account_key: person.key, public_key: Buffer.from(credential.publicKey), counter: credential.counter,
          transports: JSON.stringify(credential.transports ?? []), name, created_at: clock.iso(), used_at: null,
        });
        await record(tx, { kind: 'passkey_added', by, subject: person.id, detail: { name } });
        await notify(tx, person, { kind: 'passkey_added', detail: { name } }, by);
        await then(tx);
      });
      return true;
    },
    async beginSignIn() {
      const { generateAuthenticationOptions } = await library();
      return begin('sign_in', null, await generateAuthenticationOptions({ rpID: party.id, userVerification: 'required' }));
    },
    async signIn({ ceremony, response }, address) {
      const begun = await take(ceremony, 'sign_in');
      return begun && answered(response, begun, address);
    },
    has: async (person) => (await passkeysOf(civic.db.read, person.key)).length > 0,
    async beginConfirming(person) {
      const { generateAuthenticationOptions } = await library();
      const known = await passkeysOf(civic.db.read, person.key);
      return begin('confirm', person.key, await generateAuthenticationOptions({
        rpID: party.id, userVerification: 'required', allowCredentials: known.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) as string[] })),
      }));
    },
    async confirm(person, { ceremony, response }, request) {
      const begun = await take(ceremony, 'confirm');
      return begun?.account_key === person.key && (await answered(response, begun, clientAddressOf(request)))?.key === person.key;
    },
  };
}

/** What an authenticator keeps of an account, to say whose passkey it is. */
function handleOf({ id }: PersonRow): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Some authenticators leave it out; one that names somebody else is refused. */
function isHandleOf(person: PersonRow, given: string | undefined): boolean {
  return given === undefined || given === handleOf(person).toString('base64url');
}

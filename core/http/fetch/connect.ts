import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type { buildConnector } from 'undici';
import type { Logger } from '../../log.ts';
import { isPublicAddress } from '../addresses.ts';
import { FetchError } from './error.ts';

export interface ConnectSettings {
  allowPrivateAddresses: boolean;
  log?: Logger;
  /** Finds a host's addresses; the system's resolver unless given. */
  resolve?: (host: string) => Promise<{ address: string }[]>;
  /** Which addresses may be reached while private ones may not; public ones unless given. */
  isAllowed?: (address: string) => boolean;
}

/** How many of a host's addresses are tried, so that a long answer of a name server sets off no flood. */
const TRIES = 4;

/** Connects to the very addresses it has checked; no name is looked up after the check. */
export function createConnector(settings: ConnectSettings, build: typeof buildConnector): buildConnector.connector {
  // An address that does not answer soon gives way to the next one; the last has more patience.
  const hurried = build({ timeout: 2_000 });
  const patient = build({ timeout: 10_000 });

  async function connect(target: buildConnector.Options) {
    const tried = (await allowedAddresses(target.hostname, settings)).slice(0, TRIES);
    // The certificate is for the name, though the connection goes to the address.
    const servername = isIP(target.hostname) ? '' : target.hostname.replace(/\.$/, '');
    const failures: Error[] = [];
    for (const hostname of tried) {
      const connector = failures.length === tried.length - 1 ? patient : hurried;
      try {
        return await promisify(connector)({ ...target, hostname, servername });
      } catch (error) {
        failures.push(error as Error);
      }
    }
    const reason = failures[0]?.message ?? 'it has no address';
    throw new FetchError('unreachable', `${target.hostname} cannot be reached: ${reason}.`, { cause: failures[0] });
  }

  return (target, callback) => {
    connect(target).then((socket) => callback(null, socket!), (error) => callback(error, null));
  };
}

/** All addresses of a host. One that may not be reached condemns the rest: an honest name does not mix them. */
async function allowedAddresses(host: string, settings: ConnectSettings): Promise<string[]> {
  const addresses = isIP(host) ? [host] : await resolved(host, settings.resolve);
  const isAllowed = settings.isAllowed ?? isPublicAddress;
  const refused = settings.allowPrivateAddresses ? undefined : addresses.find((address) => !isAllowed(address));
  if (refused === undefined) return addresses;
  // The address is for the operator only: whoever asked need not learn what the network looks like inside.
  settings.log?.warn({ host, address: refused }, 'refused to connect to an address that is not public');
  throw new FetchError('address_refused', `${host} is on this machine, on a private network or at a reserved address, and only public addresses are fetched. To allow all, set http.fetch.allow_private_addresses (CIVIC_HTTP_FETCH_ALLOW_PRIVATE_ADDRESSES) to true.`);
}

async function resolved(host: string, resolve: ConnectSettings['resolve']): Promise<string[]> {
  try {
    const answers = await (resolve ? resolve(host) : lookup(host, { all: true }));
    return answers.map(({ address }) => address);
  } catch (cause) {
    throw new FetchError('unreachable', `No address was found for the host ${host}. Check how it is spelled.`, { cause });
  }
}

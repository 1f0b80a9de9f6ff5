import { isIP } from 'node:net';
import type { CheckResult } from 'civic';

/** Where passkeys are made for: the "relying party" of WebAuthn. */
export interface RelyingParty {
  /** The host name they are tied to. */
  id: string;
  /** The address the browser must be at. */
  origin: string;
  works: boolean;
  /** Why they cannot work here; null when they can. Pages have a text for each. */
  reason: 'address' | 'plain' | null;
}

export function relyingParty(publicUrl: string): RelyingParty {
  const { hostname, origin, protocol } = new URL(publicUrl);
  const reason = reasonOf(hostname, protocol);
  return { id: hostname, origin, works: reason === null, reason };
}

/** Browsers make passkeys for names, never for bare addresses, and only where nobody can listen. */
function reasonOf(hostname: string, protocol: string): RelyingParty['reason'] {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return 'address';
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? null : 'plain';
}

export function checkParty({ reason, id }: RelyingParty): CheckResult {
  if (reason === null) return { status: 'ok', detail: `passkeys work at ${id}` };
  const fault = reason === 'address' ? `Passkeys are tied to a name, and ${id} is an address.` : `Browsers offer passkeys only on https, and ${id} is reached over plain http.`;
  return { status: 'warning', detail: `${fault} People sign in by link and recovery code only.`, fix: 'Set public_url to an https address with a host name; http://localhost works for trying out' };
}

export function checkCookies(publicUrl: string): CheckResult {
  const { hostname, protocol } = new URL(publicUrl);
  if (protocol === 'https:') return { status: 'ok', detail: 'sign-in cookies travel over https only' };
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$|\.localhost$/.test(hostname)) return { status: 'ok', detail: 'sign-in cookies stay on this machine' };
  return { status: 'warning', detail: `sign-in cookies travel over plain http to ${hostname}, where others may read them`, fix: 'Put a proxy with a certificate in front, and set public_url to its https address' };
}

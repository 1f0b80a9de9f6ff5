import { isIP } from 'node:net';
import type { CheckResult } from 'civic';

/** Where passkeys are made for: the "relying party" of WebAuthn. */
export interface RelyingParty {
  /** The host name they are tied to. */
  id: string;
  /** The address the browser must be at. */
  origin: string;
  works: boolean;
  /** Why they cannot work here, as a sentence; null when they can. */
  fault: string | null;
}

export function relyingParty(publicUrl: string): RelyingParty {
  const { hostname, origin, protocol } = new URL(publicUrl);
  const fault = faultOf(hostname, protocol);
  return { id: hostname, origin, works: fault === null, fault };
}

/** Browsers make passkeys for names, never for bare addresses, and only where nobody can listen. */
function faultOf(hostname: string, protocol: string): string | null {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return `Passkeys are tied to a name, and ${hostname} is an address.`;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? null : `Browsers offer passkeys only on https, and ${hostname} is reached over plain http.`;
}

export function checkParty({ works, fault, id }: RelyingParty): CheckResult {
  if (works) return { status: 'ok', detail: `passkeys work at ${id}` };
  return { status: 'warning', detail: `${fault} People sign in by link and recovery code only.`, fix: 'Set public_url to an https address with a host name; http://localhost works for trying out' };
}

export function checkCookies(publicUrl: string): CheckResult {
  const { hostname, protocol } = new URL(publicUrl);
  if (protocol === 'https:') return { status: 'ok', detail: 'sign-in cookies travel over https only' };
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$|\.localhost$/.test(hostname)) return { status: 'ok', detail: 'sign-in cookies stay on this machine' };
  return { status: 'warning', detail: `sign-in cookies travel over plain http to ${hostname}, where others may read them`, fix: 'Put a proxy with a certificate in front, and set public_url to its https address' };
}

import type { Request, ResponseObject } from '@hapi/hapi';

export interface Cookie {
  name: string;
  /** Returns the value; null when there is none, or it is malformed. */
  read(request: Request): string | null;
  set(response: ResponseObject, value: string, seconds: number): ResponseObject;
  clear(response: ResponseObject): ResponseObject;
}

/** On https no other host, path or script can set or read it; plain http knows no such protection. */
function createCookie(publicUrl: string, bareName: string, form: RegExp): Cookie {
  const isSecure = publicUrl.startsWith('https:');
  const name = isSecure ? `__Host-${bareName}` : bareName;
  const flags = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const put = (response: ResponseObject, value: string, seconds: number) => response.header('set-cookie', `${name}=${value}; ${flags}; Max-Age=${seconds}`, { append: true });
  return {
    name,
    read: ({ headers }) => {
      const value = valueOf(headers.cookie as string | undefined, name);
      return value !== null && form.test(value) ? value : null;
    },
    set: put,
    clear: (response) => put(response, '', 0),
  };
}

/** Holds the secret of a session. */
export function sessionCookie(publicUrl: string): Cookie {
  return createCookie(publicUrl, 'civic_session', /^[0-9A-Za-z]{43}$/);
}

/**
 * Holds the page that a user signs in for, while a link is on its way by e-mail. Not part of the link: another person could request
 * a mail that leads its reader to a page of their choice.
 */
export function nextCookie(publicUrl: string): Cookie {
  return createCookie(publicUrl, 'civic_next', /^(?:[\w.~!*'()-]|%[0-7][0-9A-F])+$/);
}

function valueOf(header: string | undefined, name: string): string | null {
  if (!header?.includes(name)) return null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}

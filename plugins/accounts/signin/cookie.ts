import type { Request, ResponseObject } from '@hapi/hapi';

export interface SessionCookie {
  name: string;
  read(request: Request): string | null;
  set(response: ResponseObject, secret: string, seconds: number): ResponseObject;
  clear(response: ResponseObject): ResponseObject;
}

/** On https no other host, path or script can set or read it; plain http knows no such protection. */
export function sessionCookie(publicUrl: string): SessionCookie {
  const isSecure = publicUrl.startsWith('https:');
  const name = isSecure ? '__Host-civic_session' : 'civic_session';
  const flags = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const put = (response: ResponseObject, value: string, seconds: number) => response.header('set-cookie', `${name}=${value}; ${flags}; Max-Age=${seconds}`, { append: true });
  return {
    name,
    read: ({ headers }) => valueOf(headers.cookie as string | undefined, name),
    set: put,
    clear: (response) => put(response, '', 0),
  };
}

const SECRET = /^[0-9A-Za-z]{43}$/;

/** Anything but a secret's form is as good as no cookie. */
function valueOf(header: string | undefined, name: string): string | null {
  if (!header?.includes(name)) return null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) {
      const value = pair.slice(at + 1).trim();
      return SECRET.test(value) ? value : null;
    }
  }
  return null;
}

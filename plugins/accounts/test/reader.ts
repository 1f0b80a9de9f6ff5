import type { TestResponse, TestServer } from 'civic/testing';
import type { Authenticator } from './authenticator.ts';

/** Somebody at a browser without scripts: keeps its cookie, and sends forms with the token of the page it saw last. */
export interface PageReader {
  get(path: string, headers?: Record<string, string>): Promise<TestResponse>;
  post(path: string, fields?: Record<string, string | string[]>, headers?: Record<string, string>): Promise<TestResponse>;
  /** Opens a sign-in link and presses its button. */
  follow(link: string, fields?: Record<string, string>): Promise<TestResponse>;
  /** What the browser's script does: begins a ceremony and answers it. */
  addPasskey(passkey: Authenticator, name?: string, next?: string): Promise<TestResponse>;
  signIn(passkey: Authenticator, next?: string): Promise<TestResponse>;
  cookie: string | null;
  token: string;
}

export function pageReader(kit: TestServer, cookieName = 'civic_session'): PageReader {
  let tokenOf: string | null = null;
  const reader: PageReader = {
    cookie: null,
    token: '',
    get: (path, headers = {}) => sent('GET', path, { headers }),
    async post(path, fields = {}, headers = {}) {
      // Whoever signed in or out since has not seen a page with their own token yet.
      if (tokenOf !== reader.cookie) await reader.get('/');
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries({ form_token: reader.token, ...fields })) for (const one of [value].flat()) form.append(name, one);
      return sent('POST', path, { payload: form.toString(), headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } });
    },
    async follow(link, fields = {}) {
      const { pathname, search, searchParams } = new URL(link);
      await reader.get(pathname + search);
      return reader.post(pathname, { token: searchParams.get('token')!, ...fields });
    },
    async addPasskey(passkey, name = 'Laptop', next = '/account') {
      await reader.get('/account/passkeys');
      const { body } = await reader.post('/account/passkeys/options');
      return reader.post('/account/passkeys', { name, next, answer: JSON.stringify({ ceremony: body.ceremony, response: passkey.create(body.options) }) });
    },
    async signIn(passkey, next = '/account') {
      const { body } = await reader.post('/sign-in/passkey/options');
      return reader.post('/sign-in/passkey', { next, answer: JSON.stringify({ ceremony: body.ceremony, response: passkey.get(body.options) }) });
    },
  };

  async function sent(method: string, path: string, { payload, headers = {} }: { payload?: string; headers?: Record<string, string> }): Promise<TestResponse> {
    const cookie = reader.cookie === null ? undefined : { cookie: `theme=dark; ${cookieName}=${reader.cookie}` };
    const answer = await kit.request(method, path, { payload, headers: { accept: 'text/html', ...cookie, ...headers } });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const value = new RegExp(`^${cookieName}=([^;]*)`).exec(line)?.[1];
      if (value !== undefined) reader.cookie = value || null;
    }
    const shown = /name="form_token" value="([^"]*)"/.exec(answer.text)?.[1];
    if (shown !== undefined) [reader.token, tokenOf] = [shown, reader.cookie];
    return answer;
  }

  return reader;
}

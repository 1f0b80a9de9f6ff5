import { siteKit, type SiteKit } from './kit.ts';
import type { TestResponse, TestServerOptions } from 'civic/testing';

export const HEADERS = { 'x-editor': 'yes' };

export interface Statement {
  property: string;
  value: unknown;
  source: string;
  [member: string]: unknown;
}

export interface EntryKit extends SiteKit {
  /** Creates an actor from statements whose `source` is a URL, and returns the response. */
  create(statements: Statement[], more?: Record<string, unknown>): Promise<TestResponse>;
  send(method: string, path: string, payload?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
}

export async function entryKit(options: TestServerOptions = {}): Promise<EntryKit> {
  const kit = await siteKit(options);
  const send = async (method: string, path: string, payload?: unknown, headers: Record<string, string> = {}) => {
    const response = await kit.request(method, path, { ...(payload !== undefined && { payload }), headers: { ...HEADERS, ...headers } });
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.text}`);
    return response;
  };
  return Object.assign(kit, {
    send,
    create: (statements: Statement[], more: Record<string, unknown> = {}) => send('POST', '/api/entities', draftOf(statements, more)),
  });
}

function draftOf(statements: Statement[], { sources = {}, ...more }: Record<string, any>): object {
  const urls = [...new Set(statements.map(({ source }) => source))];
  return {
    type: 'organization', visibility: 'public',
    sources: urls.map((url, at) => ({ local_id: String(at), url, title: `Page ${at}`, ...sources[url] })),
    claims: statements.map(({ source, ...claim }) => ({ ...claim, source_local_id: String(urls.indexOf(source)) })),
    ...more,
  };
}

import type { OpenApi, Operation } from '../../contracts/openapi.ts';
import type { Example } from './types.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** An operation of OpenAPI with its address. */
export interface Located {
  path: string;
  method: string;
  operation: Operation;
  /** The protocol of its messages, where it is a stream. */
  stream?: { protocol: string; subprotocol?: string };
}

/** One request, as a client sends it. */
export interface Call {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body?: unknown;
  type?: string;
  seconds?: number;
}

/** The shell variable in which the reader has stored an API key. */
export const KEY_VARIABLE = 'CIVIC_KEY';

export function callOf(api: OpenApi, { path, method, operation, stream }: Located, example: Example): Call {
  const types = Object.keys(operation.requestBody?.content ?? {});
  const type = example.body === undefined ? undefined : example.type ?? types[0];
  return {
    method: method.toUpperCase(),
    url: api.servers[0]!.url + pathOf(path, example),
    headers: [...credentials(operation, example), ...(type && type !== FORM_TYPE ? [['Content-Type', type] as [string, string]] : []), ...(stream?.protocol === 'websocket' ? handshake(stream.subprotocol) : []), ...Object.entries(example.headers ?? {})],
    body: example.body,
    type,
    seconds: example.seconds,
  };
}

/** Returns the path with its parameters and query. */
export function pathOf(path: string, { params = {}, query = {} }: Example): string {
  const filled = Object.entries(params).reduce((text, [name, value]) => text.replace(`{${name}}`, encoded(value)), path);
  const asked = Object.entries(query).map(([name, value]) => `${name}=${encoded(String(value))}`).join('&');
  return asked === '' ? filled : `${filled}?${asked}`;
}

/** Encodes a value for a path or a query, except for commas and colons, which are legal in both, and the `$` of shell variables. */
function encoded(value: string): string {
  return encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%24', '$');
}

export function needsCaller({ security }: Operation): boolean {
  return security.length > 0 && !security.some((way) => Object.keys(way).length === 0);
}

function credentials(operation: Operation, { headers = {} }: Example): [string, string][] {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return needsCaller(operation) && !isNamed ? [['X-API-Key', `$${KEY_VARIABLE}`]] : [];
}

/** Returns the headers of a WebSocket handshake, with the sample key of RFC 6455. */
function handshake(subprotocol: string | undefined): [string, string][] {
  return [
    ['Connection', 'Upgrade'], ['Upgrade', 'websocket'], ['Sec-WebSocket-Version', '13'], ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
    ...(subprotocol ? [['Sec-WebSocket-Protocol', subprotocol] as [string, string]] : []),
  ];
}

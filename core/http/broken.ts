import type { Boom } from '@hapi/boom';
import type { Server } from '@hapi/hapi';
import { IncomingMessage, STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { problem } from '../problems.ts';
import type { AnswerHeaders } from './headers.ts';
import { bareProblem, PROBLEM_TYPE } from './problem.ts';
import { responseOn } from './upgrade.ts';

const CODE_OF_ERROR: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };
type BrokenListener = (error: ParseError, socket: Duplex) => void;

/** Codes of problems of requests that Node could not parse. */
const codes = new WeakMap<IncomingMessage, string>();

/** Returns the problem of a request that Node could not parse; null for all others. */
export function parseProblem(req: IncomingMessage): Boom | null {
  const code = codes.get(req);
  return code === undefined ? null : problem(code);
}

/**
 * Responds to bytes that Node could not parse as a request with the same headers and body as to any other rejected request. Where the
 * bytes begin with a request line, they pass through hapi, so that they count against rate limits and appear in the log.
 */
export function answerBrokenRequests(server: Server, publicUrl: string, headers: AnswerHeaders): void {
  const { listener } = server;
  const [hapis] = listener.listeners('clientError') as BrokenListener[];
  const rejected = new WeakSet<Duplex>();
  listener.removeAllListeners('clientError');

  listener.on('clientError', (error: ParseError, socket: Duplex & { _httpMessage?: ServerResponse }) => {
    // Each further packet of the same request is an error again.
    if (rejected.has(socket)) return;
    // A body that never came to its end is no business of hapi's, which would call it malformed.
    const isAnswering = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? socket._httpMessage?.headersSent : Boolean(socket._httpMessage);
    if (isAnswering || !socket.writable || error.code === 'ECONNRESET') return hapis!.call(listener, error, socket);
    rejected.add(socket);
    const code = CODE_OF_ERROR[error.code ?? ''] ?? 'bad_request';
    const req = requestOf(error, socket as Socket);
    const res = req && responseOn(socket, req);
    if (!req || !res) return void socket.end(refusal(code, publicUrl, headers));
    codes.set(req, code);
    listener.emit('request', req, res);
  });
}

const REQUEST_LINE = /^([A-Z]+) (\/[!-~]*)/;

/** Creates a request of the method and the address that the packet begins with. Its headers are not read: where they end is unknown. */
function requestOf({ rawPacket }: ParseError, socket: Socket): IncomingMessage | null {
  const [, method, url] = REQUEST_LINE.exec(rawPacket?.toString('latin1') ?? '') ?? [];
  if (!method || !url) return null;
  const req = Object.assign(new IncomingMessage(socket), { method, url, httpVersion: '1.0', httpVersionMajor: 1, httpVersionMinor: 0, complete: true });
  req.push(null);
  return req;
}

function refusal(code: string, publicUrl: string, headers: AnswerHeaders): string {
  const common = headers.bare();
  const body = bareProblem(publicUrl, code, common['x-request-id']!);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...common,
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join('\r\n')}\r\n\r\n${text}`;
}

import type { Server } from '@hapi/hapi';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AnswerHeaders } from './headers.ts';
import { bareProblem, PROBLEM_TYPE } from './problem.ts';

const CODE_OF_ERROR: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

type BrokenListener = (error: NodeJS.ErrnoException, socket: Duplex) => void;

/** Answers bytes that Node could not read as a request with the same headers and body as any other refusal. */
export function answerBrokenRequests(server: Server, publicUrl: string, headers: AnswerHeaders): void {
  const { listener } = server;
  const [hapis] = listener.listeners('clientError') as BrokenListener[];
  listener.removeAllListeners('clientError');

  listener.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex & { _httpMessage?: ServerResponse }) => {
    // A body that never came to its end is no business of hapi's, which would call it malformed.
    const isAnswering = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? socket._httpMessage?.headersSent : Boolean(socket._httpMessage);
    if (isAnswering || !socket.writable || error.code === 'ECONNRESET') hapis!.call(listener, error, socket);
    else socket.end(refusal(CODE_OF_ERROR[error.code ?? ''] ?? 'bad_request', publicUrl, headers));
  });
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

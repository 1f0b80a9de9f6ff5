import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { slowness } from '../../core/test/wait.ts';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import notes from '../plugins/notes/index.ts';
import pulse from '../plugins/pulse/index.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

// `npm run soak -- generated` sends more.
const [RUNS, TIME_MS] = process.env.CIVIC_TEST_SOAK === '1' ? [20_000, 60_000] : [400, 5000];
const PATIENCE_MS = 30_000 * slowness;

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends bytes and reads one answer; fails when none comes or it is not well formed. */
function exchange(port: number, bytes: Buffer): Promise<Answer> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => { socket.write(bytes); });
    const timer = setTimeout(() => { socket.destroy(); failed(new Error(`no end of the answer within ${PATIENCE_MS} ms`)); }, PATIENCE_MS);
    socket.on('data', (chunk) => { chunks.push(chunk); });
    // The server may refuse and close before it has read everything.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      try {
        done(readAnswer(Buffer.concat(chunks).toString('latin1')));
      } catch (error) {
        failed(error as Error);
      }
    });
  });
}

function readAnswer(text: string): Answer {
  const last = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const end = last.indexOf('\r\n\r\n');
  const [first = '', ...lines] = last.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.1 ([1-5]\d\d) [\w' -]+$/.exec(first)?.[1];
  if (end === -1 || !status) throw new Error(`no HTTP answer: ${JSON.stringify(text.slice(0, 200))}`);
  const headers = Object.fromEntries(lines.map((line) => {
    const parts = /^([\w-]+): ([\x20-\x7e]*)$/.exec(line);
    if (!parts) throw new Error(`not a header: ${JSON.stringify(line)}`);
    return [parts[1]!.toLowerCase(), parts[2]!];
  }));
  return { status: Number(status), headers, body: Buffer.from(last.slice(end + 4), 'latin1').toString() };
}

// A little of what is right and a lot of what is nearly so: pure noise never gets past the parser.
const nasty = fc.oneof(
  fc.constantFrom('', '*', '%', '%00', '%zz', '%ff', '%2e%2e', '\\', '..', '__proto__', 'constructor', 'null', '-1', '1e999', 'a'.repeat(3000), '\u00fc', '\0', '"', 'W/"', ';', ',', '<script>', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.webQueryParameters(),
);
const cursor = fc.tuple(fc.constantFrom('{}', '{"word":["a"]}', '{"word":["\\u0000"]}', '[]', 'null'), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 2 }))).map(([filters, after]) => {
  const text = `[${filters},${JSON.stringify(after)}]`;
  return Buffer.from(text).toString('base64url') + createHash('sha256').update(`/api/notes\n${text}`).digest('base64url').slice(0, 8);
});
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('/api/notes', '/api/notes/0190a6d2-3f3a-7b7c-8a55-000000000001', '/api/pulse', '/api/pulse/socket', '/health', '/health/ready', '/openapi.json', '/docs', '/problems/not_found', '/', '/api', '*') },
  nasty.map((text) => `/api/notes/${text}`),
  nasty.map((text) => `/problems/${text}`),
  nasty.map((text) => `/${text}`),
  nasty.map((text) => `http://${text}/api/notes`),
  nasty.map((text) => `${text}://x`),
  nasty,
);
const query = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  nasty.map((text) => `?${text}`),
  fc.array(fc.tuple(fc.constantFrom('word', 'limit', 'cursor', 'wrod', '__proto__'), nasty), { maxLength: 4 }).map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  cursor.map((text) => `?cursor=${text}`),
);
const header = fc.oneof(
  fc.tuple(fc.constantFrom('Accept', 'Accept-Encoding', 'Authorization', 'Content-Encoding', 'Content-Type', 'Cookie', 'Expect', 'Forwarded', 'Host', 'If-Match', 'If-None-Match', 'Origin', 'Access-Control-Request-Method', 'Prefer', 'Range', 'Sec-WebSocket-Key', 'Traceparent', 'Tracestate', 'Upgrade', 'X-API-Key', 'X-Forwarded-For', 'X-Request-ID'), nasty),
  fc.constantFrom(['Accept', 'text/html'], ['Accept-Encoding', 'gzip'], ['Content-Encoding', 'gzip'], ['Content-Encoding', 'br'], ['If-None-Match', '*'], ['Origin', 'https://a.example'], ['Upgrade', 'websocket'], ['Connection', 'upgrade'], ['Expect', '100-continue']) as fc.Arbitrary<[string, string]>,
);
const body = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  fc.json(),
  nasty.map((text) => JSON.stringify({ text })),
  nasty.map((text) => `{"text":"${text}"}`),
  fc.tuple(nasty, fc.jsonValue()).map(([name, value]) => JSON.stringify({ text: 'x', [name]: value })),
  fc.constantFrom('['.repeat(5000), '{"__proto__":{}}', '\ufeff{}', '{"text":"a","text":"b"}', `{${Array.from({ length: 2000 }, (_, i) => `"k${i}":1`).join()}}`),
);
const framing = fc.oneof(
  { weight: 6, arbitrary: fc.constant('length') },
  { weight: 2, arbitrary: fc.constant('chunked') },
  fc.constantFrom('Content-Length: 0\r\nContent-Length: 1', 'Content-Length: 0\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: x', 'Content-Length: -1', 'Content-Length: 0x1'),
);
const request = fc.record({
  method: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE') }, fc.constantFrom('PUT', 'PATCH', 'TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'get', 'FOO')),
  path,
  query,
  version: fc.oneof({ weight: 9, arbitrary: fc.constant('1.1') }, fc.constantFrom('1.0', '2.0', '9.9')),
  headers: fc.array(header, { maxLength: 4 }),
  isJson: fc.boolean(),
  body,
  framing,
});
type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never;

function written(asked: Asked): Buffer {
  const content = Buffer.from(asked.body);
  const lines = [
    `${asked.method} ${asked.path}${asked.query} HTTP/${asked.version}`,
    'Host: civic.example',
    'Connection: close',
    ...(asked.isJson ? ['Content-Type: application/json'] : []),
    ...asked.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  if (asked.framing === 'chunked') return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n`), content, Buffer.from(content.length > 0 ? '\r\n0\r\n\r\n' : '\r\n')]);
  const length = asked.framing === 'length' ? `Content-Length: ${content.length}` : asked.framing;
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n${length}\r\n\r\n`), asked.framing === 'length' ? content : Buffer.alloc(0)]);
}

for (const database of testDatabases()) describe(`Whatever is asked on ${database}`, () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [notes, pulse], database, listen: true }); });
  after(() => kit.close());

  it('gets an answer with its headers, never a failure, and a problem when it is refused', { timeout: TIME_MS + 2 * PATIENCE_MS }, async () => {
    const port = Number(kit.server.info.port);
    await fc.assert(fc.asyncProperty(request, async (asked) => {
      const { status, headers, body: text } = await exchange(port, written(asked));
      expect(status).to.be.below(500);
      expect(headers['x-request-id']).to.match(/^[!-~]{1,128}$/);
      expect(headers).to.include(['traceparent', 'cache-control', 'vary', 'x-content-type-options', 'content-security-policy']);
      if (status < 400 || asked.method === 'HEAD' || headers['content-type']?.startsWith('text/html')) return;
      expect(headers['content-type']).to.equal('application/problem+json');
      const told = JSON.parse(text);
      expect(told).to.include({ status, request_id: headers['x-request-id'], type: `${kit.composition.instance.public_url}/problems/${told.code}` });
      for (const name of ['code', 'title', 'detail', 'instance']) expect(told[name], name).to.be.a.string();
      expect(text).to.not.contain('node_modules');
    }), { numRuns: RUNS, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false });
    expect((await kit.request('GET', '/health')).status).to.equal(200);
  });
});

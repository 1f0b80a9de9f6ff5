import { systemClock } from '../../clock.ts';
import type { Server } from '@hapi/hapi';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import pino from 'pino';
import type { CoreConfig } from '../../config/types.ts';
import type { Caller, Check, Metric } from '../../plugin.ts';
import type { Gates } from '../caller.ts';
import type { ConnectionLimits } from '../connections.ts';
import { createServer } from '../server.ts';

export interface Setup {
  publicUrl?: string;
  http?: Partial<CoreConfig['http']>;
  access?: 'info' | 'warn';
  metrics?: boolean | Metric[];
  gates?: Partial<Gates>;
  checks?: Check[];
  validateResponses?: boolean;
  connections?: Partial<ConnectionLimits>;
}

export interface TestServer {
  server: Server;
  gates: Gates;
  /** Every line that was logged. */
  lines: Record<string, any>[];
}

export function testServer(setup: Setup = {}): TestServer {
  const lines: Record<string, any>[] = [];
  const log = pino({ base: null, formatters: { level: (level) => ({ level }) } }, { write: (line: string) => { lines.push(JSON.parse(line)); } });
  const gates: Gates = { resolvers: [], admit: [], ...setup.gates };
  const config = {
    name: 'Test',
    public_url: setup.publicUrl ?? 'https://civic.example',
    http: { host: '127.0.0.1', port: 0, trusted_proxies: [], cors_origins: ['*'], cache_max_age: 0, compress_from_bytes: 65536, ...setup.http },
    log: { level: 'info', access: setup.access ?? 'info', format: 'json' },
    metrics: { enabled: Boolean(setup.metrics) },
  } as unknown as CoreConfig;
  const idempotency = { db: () => { throw new Error('This server has no database'); }, clock: systemClock };
  const server = createServer({ config, version: '9.9.9', log, gates, idempotency, checks: () => setup.checks ?? [], metrics: () => (Array.isArray(setup.metrics) ? setup.metrics : []), validateResponses: setup.validateResponses ?? true, connections: setup.connections });
  return { server, gates, lines };
}

export const someone: Caller = {
  account_id: 'account-1',
  via: 'key',
  scope: ['things:read'],
  role: 'user',
  plan: 'free',
  capabilities: [],
  workspace_id: null,
  workspace_role: null,
};

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  text: string;
  json: any;
}

/** One request over a real connection. */
export function send(server: Server, method: string, path: string, options: { headers?: Record<string, string>; body?: string | Buffer } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: '127.0.0.1', port: server.info.port, method, path, headers: options.headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('end', () => resolve(answer(res.statusCode!, res.headers, res.rawHeaders, Buffer.concat(chunks).toString())));
      res.on('error', reject);
    });
    req.on('error', reject);
    req.on('upgrade', (res, socket) => {
      socket.destroy();
      resolve(answer(res.statusCode!, res.headers, res.rawHeaders, ''));
    });
    req.end(options.body);
  });
}

/** Bytes as they are, and everything that came back until the connection closed. */
export function sendRaw(server: Server, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(server.info.port), '127.0.0.1', () => { socket.write(bytes); });
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => { text += chunk; });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

function answer(status: number, headers: IncomingHttpHeaders, rawHeaders: string[], text: string): Answer {
  const isJson = /json/.test(headers['content-type'] ?? '') && text !== '';
  return { status, headers, rawHeaders, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Reads a raw answer's status, headers and body. */
export function readRaw(text: string): Answer {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...rest] = head.split('\r\n');
  const headers = Object.fromEntries(rest.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
  return answer(Number(first.split(' ')[1]), headers, [], body);
}

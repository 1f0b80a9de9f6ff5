import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import type { AuditRow } from './chain.ts';

/** Where the audit record is streamed to. */
export interface StreamTarget {
  /** The last row that the target has; null when the target is empty or cannot be read. */
  lastRow(): AuditRow | null;
  send(rows: AuditRow[]): Promise<void>;
}

export const TARGET_FORM = /^(file:\/.+|syslog:\/\/[^\s/:]+(:\d+)?|syslog\+tcp:\/\/[^\s/:]+(:\d+)?|syslog\+unix:\/.+)$/;

export function streamTarget(address: string): StreamTarget {
  if (address.startsWith('file:')) return fileTarget(address.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
  if (address.startsWith('syslog+unix:')) return syslogTarget((messages) => sendStream({ path: address.slice('syslog+unix:'.length) }, messages));
  const { hostname: host, port, protocol } = new URL(address.replace(/^syslog(\+tcp)?:/, (scheme) => (scheme === 'syslog:' ? 'http:' : 'https:')));
  if (protocol === 'http:') return syslogTarget((messages) => sendDatagrams(host, Number(port || 514), messages));
  return syslogTarget((messages) => sendStream({ host, port: Number(port || 601) }, messages));
}

const TAIL = 1024 * 1024;
const NEWLINE = 10;

/** One JSON line per row. The last line of the file is its position, so that a crash before the position is stored repeats nothing. */
function fileTarget(path: string): StreamTarget {
  const opened = <T>(work: (file: number) => T): T => {
    const file = openSync(path, 'a+', 0o600);
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  };
  return {
    lastRow() {
      if (!existsSync(path)) return null;
      const line = opened((file) => wholeLines(file).text).trimEnd().split('\n').at(-1);
      return line ? JSON.parse(line) as AuditRow : null;
    },
    async send(rows) {
      opened((file) => {
        // Only the writer removes a line that a crash cut: a reader could remove one that is just being written.
        const { end, size } = wholeLines(file);
        if (end < size) ftruncateSync(file, end);
        // Writes all of it: `writeSync` may write a part only.
        writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
        fsyncSync(file);
      });
    },
  };
}

/** Returns the last complete lines of a file, and where they end. */
function wholeLines(file: number): { text: string; end: number; size: number } {
  const { size } = fstatSync(file);
  const tail = Buffer.alloc(Math.min(size, TAIL));
  readSync(file, tail, 0, tail.length, size - tail.length);
  const length = tail.lastIndexOf(NEWLINE) + 1;
  return { text: tail.subarray(0, length).toString('utf8'), end: size - tail.length + length, size };
}

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5;
const HOST = hostname().replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-';
const PATIENCE_MS = 5000;

/** RFC 5424: the kind of event as message id, the row as JSON. */
function syslogTarget(send: (messages: Buffer[]) => Promise<void>): StreamTarget {
  return {
    lastRow: () => null,
    send: (rows) => send(rows.map((row) => Buffer.from(`<${PRIORITY}>1 ${row.at} ${HOST} civic ${process.pid} ${row.kind.slice(0, 32)} - ${JSON.stringify(row)}`))),
  };
}

async function sendDatagrams(host: string, port: number, messages: Buffer[]): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    for (const message of messages) await new Promise<void>((done, fail) => { socket.send(message, port, host, (error) => (error ? fail(error) : done())); });
  } finally {
    socket.close();
  }
}

/** With octet counting (RFC 6587), as syslog over TCP needs; the position moves once the other side has closed in order. */
async function sendStream(where: { host: string; port: number } | { path: string }, messages: Buffer[]): Promise<void> {
  const socket = connect(where);
  socket.setTimeout(PATIENCE_MS, () => { socket.destroy(new Error('the syslog server does not respond')); });
  await once(socket, 'connect');
  socket.resume();
  for (const message of messages) socket.write(Buffer.concat([Buffer.from(`${message.length} `), message]));
  socket.end();
  await once(socket, 'close');
  if (socket.errored) throw socket.errored;
}

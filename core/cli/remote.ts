import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Command, CommandCall, Terminal } from './command.ts';
import { exitCodeOf } from './exit.ts';
import { pointingToHelp } from './help.ts';
import { createTerminal, type Outlet } from './terminal.ts';

/** The first line to the server: the command to run. */
interface CommandRequest {
  name: string;
  positionals: string[];
  options: CommandCall['options'];
  cwd: string;
  isTerminal: boolean;
  color: boolean;
}

export interface ControlSocket {
  close(): Promise<void>;
}

/** The streams of the process that sent the request. */
interface Streams {
  outlet: Outlet;
  /** The lines of standard input, if the command reads them. */
  input?: AsyncIterable<string>;
  signal: AbortSignal;
}

/** A line of standard input; null when it has ended. */
interface InputLine {
  in: string | null;
}

/** Sent to the server when the user presses Ctrl-C. */
const STOP = JSON.stringify({ stop: true });
/** How long the server may take to end the command after that. */
const STOP_MS = 15_000;

/** A line from the server. `unknown` is the name of a command that the server does not have. */
type ServerLine = { out: string } | { err: string } | { exit: number } | { unknown: string };

// The longest path a Unix socket may have is 104 to 108 bytes, depending on the system.
const LONGEST_PATH = 100;

export function controlSocketPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'civic.sock');
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path;
  return join(tmpdir(), `civic-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`);
}

/** Lets commands on the same machine run inside this process: one process writes a SQLite file. */
export async function openControlSocket(dataDir: string, commands: () => Command[]): Promise<ControlSocket> {
  const path = controlSocketPath(dataDir);
  // This process holds the writer lock, so an existing socket is left over from a killed process.
  rmSync(path, { force: true });
  const callers = new Set<Socket>();
  const server = createServer((socket) => {
    callers.add(socket);
    socket.on('close', () => { callers.delete(socket); });
    serveCalls(socket, commands);
  });
  await listen(server, path);
  return {
    close: () => new Promise((done) => {
      server.close(() => done());
      for (const socket of callers) socket.destroy();
    }),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    // Node binds the socket inside this call, so no other user can open it even for a moment.
    const mask = process.umask(0o177);
    try {
      server.listen(path, done);
    } finally {
      process.umask(mask);
    }
  });
}

function serveCalls(socket: Socket, commands: () => Command[]): void {
  const gone = new AbortController();
  socket.on('close', () => { gone.abort(); });
  socket.on('error', () => { gone.abort(); });
  const send = (line: ServerLine): void => { if (!socket.destroyed) socket.write(`${JSON.stringify(line)}\n`); };
  const input = new Readable({ objectMode: true, read: () => undefined });
  let isRunning = false;
  eachLine(socket, (line) => {
    if (line === STOP) return gone.abort();
    if (isRunning) return void input.push((JSON.parse(line) as InputLine).in);
    isRunning = true;
    void runRequest(line, commands(), send, { input, signal: gone.signal })
      .catch((error: Error) => { send({ err: `The server cannot run the command: ${error.message}\n` }); })
      .finally(() => { socket.end(); });
  });
}

function eachLine(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    lines.forEach(onLine);
  });
}

async function runRequest(line: string, commands: Command[], send: (line: ServerLine) => void, { input, signal }: Omit<Streams, 'outlet'>): Promise<void> {
  const request = JSON.parse(line) as CommandRequest;
  const command = commands.find((candidate) => candidate.name === request.name);
  if (!command) return send({ unknown: request.name });
  const outlet: Outlet = { out: (out) => { send({ out }); }, err: (err) => { send({ err }); }, isTerminal: request.isTerminal, color: request.color };
  const terminal: Terminal = createTerminal(outlet, { json: Boolean(request.options.json), signal });
  const { positionals, options, cwd } = request;
  const exit = await exitCodeOf(() => pointingToHelp(command, () => command.run({ terminal, positionals, options, cwd, input })), terminal);
  send({ exit });
}

/** Returns whether a server that uses this data folder accepts commands. */
export function hasRunningServer(dataDir: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = createConnection(controlSocketPath(dataDir));
    socket.on('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => { done(false); });
  });
}

/** Runs a command inside the server that uses this data folder. Returns the exit code; null when no server runs. */
export function runInServer(dataDir: string, request: CommandRequest, { outlet, input, signal }: Streams): Promise<number | null> {
  return new Promise((done, failed) => {
    const socket = createConnection(controlSocketPath(dataDir));
    let exit: number | null = null;
    socket.on('connect', () => {
      socket.write(`${JSON.stringify(request)}\n`);
      if (input) void sendInput(socket, input);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') done(null);
      else failed(error);
    });
    eachLine(socket, (text) => {
      const line = JSON.parse(text) as ServerLine;
      if ('out' in line) outlet.out(line.out);
      else if ('err' in line) outlet.err(line.err);
      else if ('exit' in line) exit = line.exit;
      else outlet.err(`The running server does not know "${line.unknown}": restart it after changing its config\n`);
    });
    let timer: NodeJS.Timeout | undefined;
    socket.on('close', () => {
      clearTimeout(timer);
      if (exit === null && signal.aborted) outlet.err('Stopped here; the server may still be working on the command.\n');
      else if (exit === null && !socket.errored) outlet.err('The server stopped before the command was done. Run it again: what was stored stays, and it works without the server too.\n');
      done(exit ?? 1);
    });
    signal.addEventListener('abort', () => {
      socket.write(`${STOP}\n`);
      timer = setTimeout(() => { socket.destroy(); }, STOP_MS);
    });
  });
}

async function sendInput(socket: Socket, input: AsyncIterable<string>): Promise<void> {
  const send = (line: InputLine): void => { if (!socket.destroyed) socket.write(`${JSON.stringify(line)}\n`); };
  for await (const line of input) send({ in: line });
  send({ in: null });
}

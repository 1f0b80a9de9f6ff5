import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer, Socket, type AddressInfo, type Server as NetServer } from 'node:net';

/** A loopback address that tests may treat as a public one; macOS has no second address in 127.0.0.0/8. */
export const ORIGIN = process.platform === 'linux' ? '127.0.0.77' : '::ffff:127.0.0.1';

export async function listen(handler: RequestListener, host = '127.0.0.1'): Promise<{ server: Server; port: number }> {
  const server = createHttpServer(handler);
  // Whoever comes again late on a busy machine finds its connection open.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

export async function stop(server: Server | NetServer): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export interface Guard {
  /** Ports on which something listens: on 127.0.0.1, on every IPv4 address, on ::1, on every address. */
  ports: number[];
  /** How often one of them was reached. */
  reached(): number;
  /** The addresses this process tried to connect to since the last call. */
  attempts(): string[];
  stop(): Promise<void>;
}

/** Listens where nobody may come, and watches every socket this process opens: none may leave the machine. */
export async function guardLoopback(): Promise<Guard> {
  let reached = 0;
  let attempts: string[] = [];
  const servers: NetServer[] = [];
  for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::']) {
    const server = createServer((socket) => { reached++; socket.destroy(); });
    const isUp = await new Promise<boolean>((resolve) => server.once('error', () => resolve(false)).listen(0, host, () => resolve(true)));
    if (isUp) servers.push(server);
  }
  const connect = Socket.prototype.connect;
  Socket.prototype.connect = function (this: Socket, ...args: any[]) {
    const [target] = (Array.isArray(args[0]) ? args[0] : args) as [{ host?: string }];
    attempts.push(target.host ?? '');
    if (!/^(127\.|::1$|::ffff:127\.)/.test(target.host ?? '')) throw new Error(`A test tried to leave the machine: ${target.host}`);
    return (connect as Function).apply(this, args);
  } as typeof connect;
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    reached: () => reached,
    attempts: () => { const seen = attempts; attempts = []; return seen; },
    async stop() {
      Socket.prototype.connect = connect;
      await Promise.all(servers.map(stop));
    },
  };
}

/** Names for tests: each answers with its list, or with one list after the other. No name server is asked. */
export function names(table: Record<string, string[] | string[][]>): (host: string) => Promise<{ address: string }[]> {
  const asked: Record<string, number> = {};
  return async (host) => {
    const answers = table[host];
    if (!answers) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    const turn = asked[host] = (asked[host] ?? -1) + 1;
    const answer = (Array.isArray(answers[0]) ? answers[Math.min(turn, answers.length - 1)] : answers) as string[];
    return answer.map((address) => ({ address }));
  };
}

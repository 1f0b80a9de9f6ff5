import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'undici';
import { messageOf } from '../harness.ts';
import { draft } from '../firehose/signals.ts';

/** The site on the database, asked for one page at a time. */
export interface SiteServer {
  port: number;
  pid: number;
  /** Requests a path as a browser does, and measures it. */
  ask(path: string, headers?: Record<string, string>): Promise<Asked>;
  /** Publishes a signal in each of these places. */
  publish(places: string[]): Promise<void>;
  /** Creates a public actor in a place, and returns its id. */
  addActor(place: string): Promise<string>;
  deleteActor(id: string): Promise<void>;
  stop(): Promise<void>;
}

export interface Asked {
  /** By the clock of the client. */
  ms: number;
  /** Of the server, in ms: the steadier figure on a busy machine. */
  cpu: number;
  /** As sent. */
  bytes: number;
  body: Buffer;
  isGzip: boolean;
}

const BROWSER = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' };
const EDITOR = { 'x-editor': 'yes', 'content-type': 'application/json' };

/** With `CIVIC_BENCH_NODE_ARGS=--cpu-prof` it leaves a profile. */
export async function startSite(folder: string, cacheMegabytes = 64): Promise<SiteServer> {
  const execArgv = process.env.CIVIC_BENCH_NODE_ARGS?.split(' ') ?? [];
  const child = fork(join(import.meta.dirname, '../servers/site.js'), [folder, String(cacheMegabytes)], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { port } = await messageOf<{ port: number }>(child);
  const client = new Client(`http://127.0.0.1:${port}`, { bodyTimeout: 0 });
  const cpuNow = async (): Promise<number> => {
    child.send('cpu');
    return (await messageOf<{ cpu: number }>(child)).cpu / 1000;
  };
  const send = async (method: 'POST' | 'DELETE', path: string, body?: object): Promise<string> => {
    const { statusCode, body: text } = await client.request({ method, path, headers: EDITOR, body: body && JSON.stringify(body) });
    const answer = await text.text();
    if (statusCode >= 300) throw new Error(`${method} ${path} is ${statusCode}: ${answer}`);
    return answer;
  };

  return {
    port,
    pid: child.pid!,
    async ask(path, headers = {}) {
      const before = await cpuNow();
      const started = performance.now();
      const response = await client.request({ method: 'GET', path, headers: { ...BROWSER, ...headers } });
      const body = Buffer.from(await response.body.arrayBuffer());
      const ms = performance.now() - started;
      const cpu = await cpuNow() - before;
      if (response.statusCode !== 200) throw new Error(`${path} is ${response.statusCode}`);
      return { ms, cpu, bytes: body.length, body, isGzip: response.headers['content-encoding'] === 'gzip' };
    },
    async publish(places) {
      await send('POST', '/api/wire', { signals: places.map((place) => ({ ...draft(), places: [place] })) });
    },
    async addActor(place) {
      const claims = Object.entries({ name: 'Neighbours of the measurement', place, issue_area: 'housing_affordability' }).map(([property, value]) => ({ property, value, source_local_id: 's' }));
      const body = { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://measured.example/about' }], claims };
      return (JSON.parse(await send('POST', '/api/entities', body)) as { id: string }).id;
    },
    async deleteActor(id) { await send('DELETE', `/api/entities/${id}`); },
    async stop() {
      await client.destroy();
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

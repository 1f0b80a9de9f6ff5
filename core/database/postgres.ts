import { Socket } from 'node:net';
import knex, { type Knex } from 'knex';
// @ts-expect-error Knex has no types for its dialects.
import dialect from 'knex/lib/dialects/postgres/index.js';
import pg from 'pg';
import { Failure } from '../cli/command.ts';
import { cleanError, driverError, type DriverError } from './errors.ts';
import { knexLog, type OpenSettings } from './settings.ts';
import { createSilenceDetector, type SilenceDetector } from './silence.ts';
import type { Strictness } from './strict.ts';

const OLDEST = 13;
/** A server that does not respond to a new connection in this time counts as away. */
const CONNECT_MS = 5000;
const PROBE_MS = 3000;
const SESSION = "set time zone 'UTC'; set datestyle to 'ISO'; set application_name to 'civic'";

/** `2026-01-01 10:00:00.5+00` of a session in UTC as RFC 3339 with milliseconds. */
function timeText(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text);
  return match ? `${match[1]}T${match[2]}.${(match[3] ?? '').slice(0, 3).padEnd(3, '0')}Z` : text;
}

const asText = (text: string) => text;
const { builtins } = pg.types;

// Rows read the same as on SQLite; see the table in types.ts.
const parsers: Record<number, (text: string) => unknown> = {
  [builtins.INT8]: Number,
  [builtins.NUMERIC]: Number,
  [builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [builtins.TIMESTAMPTZ]: timeText,
  [builtins.TIMESTAMP]: asText,
  [builtins.DATE]: asText,
  [builtins.JSON]: asText,
  [builtins.JSONB]: asText,
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text'),
};

/** The members of Knex's dialect that are replaced. */
interface Client {
  config: Knex.Config & { strictness: Strictness; silence: SilenceDetector };
  acquireRawConnection(): Promise<pg.Client>;
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
  query(connection: unknown, query: unknown): Promise<{ sql: string; response?: pg.QueryResult }>;
  processResponse(query: { method?: string; output?: unknown; response: pg.QueryResult }, runner: unknown): unknown;
}
const PostgresClient = dialect as new (config: Knex.Config) => Client;

class CivicClient extends PostgresClient {
  override async acquireRawConnection(): Promise<pg.Client> {
    return await this.config.silence.track(async () => {
      const connection = await super.acquireRawConnection();
      await startSession(connection);
      return connection;
    });
  }

  override async acquireConnection(): Promise<unknown> {
    this.config.strictness.check('db.read');
    try {
      return await this.config.silence.wait(() => super.acquireConnection(), (late) => this.releaseConnection(late));
    } catch (error) {
      throw cleanError(error);
    }
  }

  override async query(connection: unknown, query: unknown): Promise<{ sql: string; response?: pg.QueryResult }> {
    let done;
    try {
      done = await this.config.silence.track(() => super.query(connection, query));
    } catch (error) {
      throw cleanError(error);
    }
    // Postgres answers COMMIT of a failed transaction with a silent ROLLBACK: that must not count as stored.
    if (done.sql === 'COMMIT;' && done.response?.command === 'ROLLBACK') {
      throw new Error('Nothing was stored: a statement in the transaction failed and its error was ignored');
    }
    return done;
  }

  /** `raw` answers rows, as on SQLite. */
  override processResponse(query: { method?: string; output?: unknown; response: pg.QueryResult }, runner: unknown): unknown {
    if (query.method === 'raw' && !query.output) return query.response.rows;
    return super.processResponse(query, runner);
  }
}

export interface PostgresPool {
  knex: Knex;
  silence: SilenceDetector;
  /** Opens a connection beside the pool that also ends when the server is silent. */
  connect(): Promise<pg.Client>;
  /** Ends all connections, also those that wait for the server. */
  disconnect(): void;
}

export async function openPostgres(url: string, pool: number, { log, strictness }: OpenSettings, searchPath?: string[]): Promise<PostgresPool> {
  // A connection that fails half-way is left open by the driver, and would keep the process alive until the server gives up.
  const sockets = new Set<Socket>();
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => { sockets.delete(socket); });
  };
  const disconnect = (): void => { for (const socket of sockets) socket.destroy(); };
  const silence = createSilenceDetector({ log, probe: () => probe(url, stream), disconnect });
  const config = { client: CivicClient, strictness, silence, log: knexLog(log), connection: { connectionString: url, types, stream, connectionTimeoutMillis: CONNECT_MS }, compileSqlOnError: false, pool: { min: 0, max: pool }, acquireConnectionTimeout: 30_000, ...(searchPath && { searchPath }) };
  const database = knex(config as unknown as Knex.Config);
  try {
    const [facts] = await database.raw("select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding");
    if (facts.version < OLDEST) throw new Error(`it is PostgreSQL ${facts.version}; civic needs ${OLDEST} or newer.`);
    if (facts.encoding !== 'UTF8') throw new Error(`its encoding is ${facts.encoding}; create it with encoding UTF8.`);
    return { knex: database, silence, disconnect, connect: () => connectSession(url, stream) };
  } catch (error) {
    disconnect();
    await database.destroy();
    throw new Failure(`The database at ${withoutPassword(url)} cannot be used: ${explain(driverError(error), url)}`);
  }
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password) parsed.password = '***';
    parsed.search = '';
    return parsed.href;
  } catch {
    return 'database.url';
  }
}

function explain(error: DriverError, url: string): string {
  switch (error.code) {
    case 'ECONNREFUSED': case 'ETIMEDOUT': case 'EHOSTUNREACH': case 'ENOENT': return 'nothing answers there. Is PostgreSQL running, and are host and port right?';
    case 'ENOTFOUND': case 'EAI_AGAIN': return 'its host name is not known.';
    case 'ERR_INVALID_URL': return 'it is not an address such as postgres://user:password@host:5432/civic.';
    case '28P01': case '28000': return 'the user or the password was refused. Check both in database.url.';
    case '3D000': return `there is no such database. Create it with createdb ${new URL(url).pathname.slice(1)}.`;
    case '53300': return 'it has no connection left. Lower database.pool or raise max_connections.';
  }
  if (NO_RESPONSE.test(error.message)) return 'it accepts the connection but does not respond. Is PostgreSQL stopped or overloaded, and is the port that of PostgreSQL?';
  // The driver found no password to answer with, and says so in terms of the protocol.
  if (error.message.includes('client password must be a string')) return 'it asks for a password, and database.url has none.';
  if (error.message.includes('does not support SSL')) return 'it does not offer encryption. Leave sslmode out of database.url, or switch ssl on there.';
  return error.message;
}

// The driver's own words for a connection, a query and a pool that waited too long.
const NO_RESPONSE = /^timeout expired$|^Query read timeout$|Timeout acquiring a connection/;

/** Any response counts, also that there is no connection left or that nothing listens. */
async function probe(url: string, stream: () => Socket): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, stream, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return !NO_RESPONSE.test((error as Error).message);
  } finally {
    void endSession(client);
  }
}

/** A connection beside the pool, for what lives as long as a session: LISTEN and advisory locks. */
export async function connectSession(url: string, stream: () => Socket = () => new Socket()): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, types, stream, connectionTimeoutMillis: CONNECT_MS });
  // An idle client that loses its connection emits this; its user gets 'end'.
  client.on('error', () => undefined);
  await client.connect();
  await startSession(client);
  return client;
}

async function startSession(client: pg.Client): Promise<void> {
  try {
    await client.query({ text: SESSION, query_timeout: CONNECT_MS } as pg.QueryConfig);
  } catch (error) {
    await endSession(client);
    throw error;
  }
}

const END_MS = 1000;

/** Ends a connection, also one whose server does not respond. */
export async function endSession(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const timer = setTimeout(() => { stream.destroy(); }, END_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

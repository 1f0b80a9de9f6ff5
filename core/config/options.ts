import Joi from 'joi';
import { parseTrustedProxy } from '../http/client-address.ts';
import { version } from '../root.ts';
import type { ConfigFragment, CoreConfig } from './types.ts';
import { parseUrl } from '../url.ts';

const seconds = (min: number, max: number) => Joi.number().min(min).max(max);
const count = (min: number, max: number) => Joi.number().integer().min(min).max(max);

function isPublicUrl(text: string): boolean {
  const url = parseUrl(text);
  if (!url) return false;
  const { protocol, username, password, search, hash } = url;
  return ['http:', 'https:'].includes(protocol) && !username && !password && !search && !hash && !/[/?#]$/.test(text);
}

const publicUrl = Joi.string()
  .custom((text, helpers) => (isPublicUrl(text) ? text : helpers.error('any.invalid')))
  .description('an http or https address without a slash, query or fragment at its end, such as https://civic.example.org');

const databaseUrl = Joi.string()
  .pattern(/^(postgres(ql)?:\/\/[^\s/]+|sqlite:.+)/)
  .description('an address such as postgres://user:password@host:5432/civic, or sqlite:<path>');

const host = Joi.string().pattern(/^[A-Za-z0-9.:-]+$/).description('an IP address or host name without a port, such as 0.0.0.0');
const origin = Joi.string().pattern(/^(\*|https?:\/\/[^/\s]+)$/).description('* or an origin such as https://example.org');

const proxy = Joi.string()
  .custom((text: string) => (parseTrustedProxy(text), text))
  .description('an IP address, a network such as 10.0.0.0/8, loopback or private');

/** The options every installation has. Sections of a plugin are added beside them when it is loaded. */
export const coreOptions: ConfigFragment = {
  name: { doc: 'The name of this installation, as people see it.', format: String, default: 'Civic' },
  public_url: { doc: 'The address people use, which may have a sub-path; null is http://localhost with the port.', format: publicUrl, nullable: true, default: null, env: 'CIVIC_BASE_URL' },
  demo: { doc: 'Whether each start loads invented demo data; `serve --demo` sets it for one start.', format: Boolean, default: false },
  data_dir: { doc: 'The folder that holds the SQLite database and everything else kept on disk.', format: 'path', default: './data' },
  shutdown_seconds: { doc: 'How many seconds requests and jobs may take to finish when the server stops.', format: seconds(1, 600), default: 10 },
  http: {
    host: { doc: 'The address to listen on: 127.0.0.1 is for this machine only, 0.0.0.0 for all addresses, as in a container.', format: host, default: '127.0.0.1', env: 'CIVIC_HOST' },
    port: { doc: 'The port to listen on; 0 takes any free one.', format: 'port', default: 8080, env: 'CIVIC_PORT' },
    trusted_proxies: { doc: 'The proxies in front of the server, whose X-Forwarded-For header is trusted.', format: Joi.array().items(proxy), default: [] },
    cors_origins: { doc: 'The web sites whose pages may read public data from a browser; * is all of them.', format: Joi.array().items(origin), default: ['*'] },
    cache_max_age: { doc: 'How many seconds caches may reuse public responses without revalidation.', format: count(0, 31536000), default: 0 },
    compress_from_bytes: { doc: 'Responses of at least this many bytes are compressed, which costs processor time.', format: 'nat', default: 65536 },
    fetch: {
      allow_private_addresses: { doc: 'Whether the server may fetch from private and local addresses, which is unsafe when users can choose the address.', format: Boolean, default: false },
      timeout_seconds: { doc: 'How many seconds one fetch may take, redirects included.', format: seconds(1, 600), default: 20 },
      max_bytes: { doc: 'The largest response body that is fetched, in bytes.', format: count(1024, 1073741824), default: 10485760 },
      max_redirects: { doc: 'How many redirects a fetch follows.', format: count(0, 20), default: 5 },
      user_agent: { doc: 'The User-Agent header of fetches; null is Civic with its version and the public address.', format: String, nullable: true, default: null },
    },
  },
  database: {
    url: { doc: 'The address of the database; null is an SQLite file in data_dir.', format: databaseUrl, nullable: true, default: null, sensitive: true },
    driver: { doc: 'The driver of SQLite: sqlite3 is the npm package, node is the SQLite of Node 22.16, 24 or newer; auto is sqlite3, and node where that cannot be loaded.', format: ['auto', 'sqlite3', 'node'], default: 'auto' },
    pool: { doc: 'The maximum number of connections to PostgreSQL; SQLite does not use it.', format: count(1, 200), default: 10 },
  },
  log: {
    level: { doc: 'The lowest level that is logged.', format: ['debug', 'info', 'warn', 'error', 'silent'], default: 'info' },
    access: { doc: 'Which requests are logged: info is all of them, warn only failed ones.', format: ['info', 'warn'], default: 'info' },
    format: { doc: 'The format of log lines: json for machines, pretty for people, auto is pretty on a terminal.', format: ['auto', 'pretty', 'json'], default: 'auto' },
  },
  metrics: {
    enabled: { doc: 'Whether /metrics serves figures for Prometheus.', format: Boolean, default: false },
  },
  jobs: {
    concurrency: { doc: 'How many background jobs this process runs at a time.', format: count(1, 64), default: 4 },
    network_concurrency: { doc: 'How many background jobs that wait for other servers, such as reads of watched sources, this process runs at a time, besides the others.', format: count(1, 64), default: 8 },
    poll_seconds: { doc: 'How often, in seconds, this process checks for background jobs that other processes added.', format: seconds(0.1, 60), default: 1 },
  },
  events: {
    retention_days: { doc: 'How many days events are kept after every plugin has processed them.', format: count(1, 3650), default: 30 },
  },
  backup: {
    folder: { doc: 'The folder backups are written to; null is backups in data_dir.', format: 'path', nullable: true, default: null },
    before_migrations: { doc: 'Whether to back up before an upgrade changes the database.', format: Boolean, default: true },
  },
};

/** The two options core reads in every plugin's section. */
export const pluginOptions: ConfigFragment = {
  enabled: { doc: 'Whether the plugin runs; its section may stay when it does not.', format: Boolean, default: true },
  from: { doc: 'The folder or npm package the plugin is loaded from, when it is not one of the kit\'s own.', format: String, nullable: true, default: null },
};

/** Options of the command line, and the option of the file each one sets. */
export const ARGUMENTS: Record<string, string> = { host: 'http.host', port: 'http.port', data: 'data_dir' };

/** Fills what is worked out from other options when it was not set. */
export function workOut(config: CoreConfig): void {
  const { host, port } = config.http;
  const isLocal = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost'].includes(host);
  config.public_url ??= `http://${isLocal ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`;
  config.http.fetch.user_agent ??= `Civic/${version} (+${config.public_url})`;
}

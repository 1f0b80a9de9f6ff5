import { existsSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { backupFolder, isPostgres, portFault } from '../boot.ts';
import type { Composition } from '../compose.ts';
import type { CoreConfig } from '../config/types.ts';
import { databaseNow } from '../database/dialect.ts';
import { existingFolder, folderFault } from '../database/folder.ts';
import { newerMigrations, pendingMigrations } from '../database/migrate.ts';
import { isOpenToOthers } from '../database/private.ts';
import type { Check, CheckResult, Plugin } from '../plugin.ts';
import { call, callAny } from '../program.ts';
import { version } from '../root.ts';
import { isLoopbackHost } from '../url.ts';
import { shellWord } from './command.ts';
import { hasRunningServer } from './remote.ts';
import { themeFaultsOf, themeFolder } from './theme.ts';

export type NamedCheck = Pick<Check, 'name' | 'run'>;

const MEGABYTE = 1024 * 1024;

/** Kinds of file system, by the number the kernel gives them, on which SQLite's locks cannot be trusted. */
const NETWORK_FILE_SYSTEMS: Record<number, string> = { 0x6969: 'NFS', 0x517b: 'SMB', 0xff534d42: 'CIFS', 0xfe534d42: 'SMB2', 0x01021997: '9p', 0x65735546: 'FUSE' };

export function machineChecks(): NamedCheck[] {
  return [
    { name: 'node', run: async () => nodeResult(process.versions.node) },
    { name: 'clock', run: async () => clockResult() },
  ];
}

export function folderChecks(config: CoreConfig): NamedCheck[] {
  return [
    { name: 'data folder', run: async () => folderResult(config.data_dir) },
    { name: 'file modes', run: async () => modesResult(config) },
    { name: 'disk', run: async () => diskResult(config.data_dir) },
    { name: 'file system', run: async () => fileSystemResult(config) },
  ];
}

export function nodeResult(version: string): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isFine = major > 20 || (major === 20 && minor >= 19);
  return isFine ? ok(`version ${version}`) : failed(`version ${version}`, 'use Node 20.19 or newer');
}

function folderResult(folder: string): CheckResult {
  const fault = folderFault(folder);
  if (fault) return failed(fault.detail, fault.fix);
  return ok(existsSync(folder) ? `${folder} is writable` : `${folder} will be made by the first start`);
}

/** Checks the data folder, its own files and the backups. Files deeper in a closed folder cannot be reached. */
function modesResult(config: CoreConfig): CheckResult {
  const backups = backupFolder(config);
  const files = ['', 'civic.db', 'civic.db-wal', 'civic.db-shm', 'writer.lock', 'civic.sock'].map((name) => join(config.data_dir, name));
  const folders = existsSync(backups) ? readdirSync(backups).map((name) => join(backups, name)) : [];
  const isClosed = !isOpenToOthers(config.data_dir);
  const open = [...files, backups, ...(isClosed && backups.startsWith(join(config.data_dir, '/')) ? [] : folders)].filter(isOpenToOthers);
  if (open.length === 0) return ok('no other user of this machine can access the data');
  const roots = [...new Set(open.map((path) => (path.startsWith(config.data_dir) ? config.data_dir : backups)))];
  return warning(`other users of this machine can access ${open.slice(0, 3).join(', ')}${open.length > 3 ? ` and ${open.length - 3} more` : ''}`, roots.map((path) => `chmod -R go= ${shellWord(path)}`).join(' && '));
}

function diskResult(folder: string): CheckResult {
  const { bavail, bsize } = statfsSync(existingFolder(folder));
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  const detail = `${free.toLocaleString('en-US')} MB free`;
  if (free < 100) return failed(detail, 'make room: below 100 MB writes will soon be refused');
  if (free < 1000) return warning(detail, `make room soon; ${call('backup')} writes a second copy of the data`);
  return ok(detail);
}

function fileSystemResult(config: CoreConfig): CheckResult {
  const kind = NETWORK_FILE_SYSTEMS[statfsSync(existingFolder(config.data_dir)).type];
  if (!kind) return ok('a local file system');
  if (isPostgres(config)) return ok(`${kind}; the database is elsewhere`);
  return failed(`the data folder is on ${kind}, where SQLite can lose data`, 'put data_dir on a local disk, or use Postgres (database.url)');
}

/** A clock before this release was made is wrong; one ahead of the database is seen by the check of the database. */
function clockResult(): CheckResult {
  const now = new Date();
  return now.getUTCFullYear() >= 2026 ? ok(now.toISOString()) : failed(`it shows ${now.toISOString()}`, 'set the clock of this machine, best by NTP (timedatectl set-ntp true)');
}

export function settingsChecks(config: CoreConfig, plugins: Plugin[]): NamedCheck[] {
  return [
    { name: 'theme', run: () => themeResult(config, plugins) },
    { name: 'port', run: () => portResult(config) },
    ...addressChecks(config),
  ];
}

export function addressChecks(config: CoreConfig): NamedCheck[] {
  return [
    { name: 'public address', run: async () => publicAddressResult(config) },
    { name: 'proxy', run: async () => proxyResult(config) },
    { name: 'fetched addresses', run: async () => fetchResult(config) },
  ];
}

/** A text with a mistake is replaced by the kit's own, so nobody would notice. */
async function themeResult(config: CoreConfig, plugins: Plugin[]): Promise<CheckResult> {
  const faults = await themeFaultsOf(config, plugins);
  if (faults.length > 0) return warning(faults.join('; '), 'correct these lines; docs/themes.md describes the texts of a theme');
  return ok(existsSync(themeFolder(config)) ? themeFolder(config) : 'none');
}

/** The server of this instance may use the port. */
async function portResult(config: CoreConfig): Promise<CheckResult> {
  const { host, port } = config.http;
  const fault = await portFault(config);
  if (!fault) return ok(`${port} on ${host} is free`);
  if (await isServedByThisInstance(config)) return ok(`${port} on ${host} is used by the running server`);
  return warning(fault.detail[0]!.toLowerCase() + fault.detail.slice(1), fault.fix);
}

/** On SQLite one server uses a data folder, and its control socket is open. On Postgres any civic server of this version counts. */
async function isServedByThisInstance(config: CoreConfig): Promise<boolean> {
  const { host, port } = config.http;
  if (!isPostgres(config) && !(await hasRunningServer(config.data_dir))) return false;
  const address = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const response = await fetch(`http://${address}:${port}/health`, { signal: AbortSignal.timeout(3000), redirect: 'error' });
    return ((await response.json()) as { version?: unknown }).version === version;
  } catch {
    return false;
  }
}

function publicAddressResult(config: CoreConfig): CheckResult {
  const { hostname, protocol } = new URL(config.public_url);
  if (isLoopbackHost(hostname)) {
    const isOpen = !['127.0.0.1', '::1', 'localhost'].includes(config.http.host);
    return isOpen
      ? warning(`${config.public_url}, but it listens on ${config.http.host}`, 'set public_url to the address people use: links and sign-in depend on it')
      : ok(`${config.public_url}, for this machine only`);
  }
  return protocol === 'https:' ? ok(config.public_url) : warning(`${config.public_url} is not encrypted`, 'serve it by https, for instance behind a proxy such as Caddy or nginx, and set public_url to https://…');
}

function proxyResult(config: CoreConfig): CheckResult {
  const { hostname, protocol } = new URL(config.public_url);
  const { trusted_proxies: trusted } = config.http;
  if (trusted.length > 0) return ok(`client addresses are taken from ${trusted.join(', ')}`);
  if (protocol === 'https:' && !isLoopbackHost(hostname)) {
    return warning('public_url is https, so a proxy stands in front, but no proxy is trusted: all visitors would share its address', 'set http.trusted_proxies to its address (loopback when it is on this machine)');
  }
  return ok('no proxy is trusted');
}

function fetchResult({ http: { fetch } }: CoreConfig): CheckResult {
  if (!fetch.allow_private_addresses) return ok('only public addresses are fetched');
  return warning('private and local addresses are fetched too: a user who can name an address reaches the network of this machine', 'set http.fetch.allow_private_addresses to false, unless this instance is for tests');
}

export function databaseChecks(composition: Composition): NamedCheck[] {
  return [
    { name: 'database', run: () => databaseResult(composition) },
    { name: 'migrations', run: () => migrationsResult(composition) },
    { name: 'database clock', run: () => databaseClockResult(composition) },
  ];
}

async function databaseResult({ db }: Composition): Promise<CheckResult> {
  if (db.dialect === 'postgres') {
    const [{ version }] = await db.read.raw("select current_setting('server_version') as version");
    return parseInt(version, 10) >= 13 ? ok(`Postgres ${version}`) : failed(`Postgres ${version}`, 'use Postgres 13 or newer');
  }
  const rows = await db.read.raw('pragma quick_check(1)');
  const verdict: string = rows[0].quick_check;
  if (verdict === 'ok' && db.driver?.fallback) return warning(`SQLite, intact; the driver is Node's own, since ${db.driver.fallback}`, 'run npm rebuild sqlite3 and restart, or set database.driver to node to keep it');
  return verdict === 'ok' ? ok(`SQLite, intact${db.driver ? ` (driver ${db.driver.driver.name})` : ''}`) : failed(`SQLite says: ${verdict}`, `stop the server and restore the newest backup into an empty data folder: ${call('restore')}`);
}

async function migrationsResult({ db, migrations }: Composition): Promise<CheckResult> {
  const newer = await newerMigrations(db, migrations);
  if (newer.length > 0) return failed(`the database was upgraded by a newer version (${newer[0]!.plugin}/${newer[0]!.name})`, 'update civic again, or restore the backup made before that upgrade into an empty data folder');
  const pending = await pendingMigrations(db, migrations);
  return pending.length > 0 ? warning(`${pending.length} not applied yet`, callAny('serve') ? `${call('serve')} applies them, or ${call('migrate')}` : `${call('migrate')} applies them`) : ok('all applied');
}

const TOLERATED_SECONDS = 5;

/** Several nodes and their database must agree on the time, or leases end early. */
async function databaseClockResult({ db }: Composition): Promise<CheckResult> {
  if (db.dialect !== 'postgres') return ok('SQLite uses the clock of this machine');
  const off = Math.abs(Date.parse(await databaseNow(db.read)) - Date.now()) / 1000;
  return off <= TOLERATED_SECONDS ? ok('agrees with this machine') : failed(`differs from this machine by ${Math.round(off)} s`, 'set both clocks by NTP');
}

function ok(detail: string): CheckResult {
  return { status: 'ok', detail };
}

function warning(detail: string, fix: string): CheckResult {
  return { status: 'warning', detail, fix };
}

function failed(detail: string, fix: string): CheckResult {
  return { status: 'failed', detail, fix };
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInstance, type Instance, type Served } from '../support/civic.ts';
import { allowed, type Finding } from './schemathesis-allowed.ts';

export interface SchemathesisOptions {
  isLong: boolean;
  seed: number;
  say(words: string): void;
}

const VERSION = '4.32.5';
const PHASES = 'examples,coverage,fuzzing,stateful';
/** For each of the two identities. */
const SECONDS = { short: 140, long: 1800 };
/** Streams do not end: after this long a request counts as answered by one. */
const TIMEOUT_SECONDS = 3;
const MANY = 100_000_000;
const often = { requests_per_minute: MANY, requests_per_hour: MANY };
const CONFIG = {
  log: { access: 'warn' },
  plugins: {
    directory: {}, firehose: {},
    accounts: { default_plan: 'team', plans: { team: { requests_per_minute: MANY, requests_per_day: MANY, keys: 50, sessions: MANY, streams: 10_000 } } },
    ratelimit: { anonymous: { reads_per_minute: MANY, writes_per_minute: MANY, requests_per_hour: MANY }, pages: often },
  },
};

/** Tests what `/openapi.json` promises, anonymous and as administrator. Returns the findings that no entry of the allow list explains. */
export async function soakSchemathesis({ isLong, seed, say }: SchemathesisOptions): Promise<string[]> {
  const program = installed(say);
  if ('missing' in program) return [`schemathesis: ${program.missing}`];
  const instance = createInstance(CONFIG);
  let served: Served | null = null;
  try {
    // Loads the places, for which `serve` has less time.
    await output(instance, 'migrate');
    served = await instance.serve('--demo');
    const identities = { anonymous: null, administrator: await adminKey(instance) };
    const faults: string[] = [];
    for (const [name, key] of Object.entries(identities)) {
      const findings = run(program.path, { url: served.url, key, seconds: isLong ? SECONDS.long : SECONDS.short, seed, say: (words) => say(`schemathesis as ${name}: ${words}`) });
      faults.push(...unexplained(findings, (words) => say(`schemathesis as ${name}: ${words}`)).map((fault) => `schemathesis as ${name}: ${fault}`));
    }
    return faults;
  } finally {
    await served?.stop();
    instance.remove();
  }
}

/** Installs the pinned version into a cache folder outside the checkout. */
function installed(say: (words: string) => void): { path: string } | { missing: string } {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'civic', `schemathesis-${VERSION}`);
  const path = join(folder, 'bin', 'schemathesis');
  if (existsSync(path)) return { path };
  say(`installing schemathesis ${VERSION} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  for (const [command, ...words] of [['python3', '-m', 'venv', folder], [join(folder, 'bin', 'pip'), 'install', '--quiet', `schemathesis==${VERSION}`]] as const) {
    const { status, error, stderr } = spawnSync(command, words, { encoding: 'utf8' });
    if (status === 0) continue;
    rmSync(folder, { recursive: true, force: true });
    return { missing: `needs python3 (3.10 or later) with venv and pip, and PyPI; "${command} ${words.join(' ')}" failed: ${(error?.message ?? stderr).trim().split('\n').at(-1)}` };
  }
  return { path };
}

async function adminKey(instance: Instance): Promise<string> {
  const { id } = JSON.parse(await output(instance, 'account', 'create', '--name', 'Tester', '--role', 'admin', '--plan', 'team', '--json')) as { id: string };
  return (JSON.parse(await output(instance, 'key', 'create', '--account', id, '--json')) as { key: string }).key;
}

async function output(instance: Instance, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await instance.civic(...words);
  if (code !== 0) throw new Error(`civic ${words.join(' ')}: ${stderr}`);
  return stdout;
}

interface Run {
  url: string;
  key: string | null;
  seconds: number;
  seed: number;
  say(words: string): void;
}

function run(path: string, { url, key, seconds, seed, say }: Run): Finding[] {
  const folder = mkdtempSync(join(tmpdir(), 'civic-schemathesis-'));
  try {
    const { stdout, stderr, error } = spawnSync(path, [
      'run', `${url}/openapi.json`, '--url', url, '--phases', PHASES, '--checks', 'all', '--max-time', String(seconds), '--seed', String(seed), '--request-timeout', String(TIMEOUT_SECONDS),
      // A request carries the one credential that is given here: two of them are an error of their own.
      '--generation-with-security-parameters', 'false', ...(key ? ['--header', `X-API-Key: ${key}`] : []),
      '--continue-on-failure', '--no-shrink', '--generation-database', 'none', '--output-sanitize', 'false', '--report', 'ndjson', '--report-dir', folder, '--no-color',
    ], { encoding: 'utf8', cwd: folder, timeout: seconds * 3000, maxBuffer: 256 * 1024 * 1024 });
    const report = readdirSync(folder).find((name) => name.endsWith('.ndjson'));
    if (error || !report) throw new Error(`schemathesis did not finish: ${error?.message ?? ''}\n${stdout}\n${stderr}`);
    say(stdout.trim().split('\n').at(-1)!.replaceAll('=', '').trim());
    return readFileSync(join(folder, report), 'utf8').trim().split('\n').flatMap((line) => findingsOf(JSON.parse(line) as Event));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Bytes {
  $base64: string;
}

/** The part of a report's events that is read here. */
interface Event {
  ScenarioFinished?: {
    recorder: {
      label: string;
      checks?: Record<string, { status: string; name: string; failure_info?: { failure: { operation: string; title: string; message: string } } }[]>;
      interactions?: Record<string, { request: { method: string; uri: string; body: Bytes | null }; response: { status_code: number; content: Bytes | null } | null }>;
    };
  };
  NonFatalError?: { label: string; info: { title: string; message: string } };
}

function findingsOf({ ScenarioFinished, NonFatalError }: Event): Finding[] {
  if (NonFatalError) return [{ check: 'error', operation: NonFatalError.label, code: null, detail: `${NonFatalError.info.title}: ${NonFatalError.info.message}`, request: '' }];
  if (!ScenarioFinished) return [];
  const { label, checks = {}, interactions = {} } = ScenarioFinished.recorder;
  return Object.entries(checks).flatMap(([id, results]) => results.filter(({ status }) => status === 'failure').map(({ name, failure_info }) => {
    const { request, response } = interactions[id] ?? {};
    const body = textOf(response?.content);
    return {
      check: name, operation: failure_info?.failure.operation ?? label, code: /"code":"(\w+)"/.exec(body)?.[1] ?? null,
      detail: `${failure_info?.failure.title}: ${failure_info?.failure.message} ${response?.status_code ?? ''} ${body.slice(0, 500)}`.replaceAll(/\s+/g, ' '),
      request: request ? `${request.method} ${request.uri} ${textOf(request.body)}`.slice(0, 1000) : '',
    };
  }));
}

function textOf(bytes: Bytes | null | undefined): string {
  return bytes ? Buffer.from(bytes.$base64, 'base64').toString() : '';
}

/** One line for each operation and check; reports how often each entry of the allow list was needed. */
function unexplained(findings: Finding[], say: (words: string) => void): string[] {
  const faults = new Map<string, string>();
  const uses = new Map<string, number>();
  for (const finding of findings) {
    const entry = allowed.find(({ explains }) => explains(finding));
    if (entry) uses.set(entry.reason, (uses.get(entry.reason) ?? 0) + 1);
    else faults.set(`${finding.check} ${finding.operation} ${finding.code}`, `${finding.check} of ${finding.operation}: ${finding.detail}\n    ${finding.request}`);
  }
  for (const [reason, count] of uses) say(`allowed ${count} times: ${reason}`);
  return [...faults.values()];
}

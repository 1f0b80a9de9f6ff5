import { addressGroup, clientAddressOf, type Caller, type Vocabulary } from 'civic';
import type { Request } from '@hapi/hapi';
import { RESERVED_CLASSES, type ClassLimits, type RatelimitConfig } from './config.ts';
import type { Window } from './windows.ts';

/** The part of the accounts plugin's service that returns what a plan allows. */
export interface PlanSource {
  limitOf(plan: string, limit: string): number;
}

/** The counters that a request takes from. */
export interface Rule {
  /** Which requests are counted together, for people: `/api`, `pages`, `signing in`. */
  label: string;
  subject: string;
  windows: readonly Window[];
  /** Set when the limits are those of the account's plan. */
  account: { id: string; plan: string } | null;
  /** A request of the API: every response states the limits. */
  isApi: boolean;
  /** Whether the limits of a plan would hold for a caller with an account. */
  isRaisedByAccount: boolean;
}

interface RateClass {
  name: string;
  label: string;
  windows: Window[];
  /** Whether requests of an account count against its plan. */
  isPlanned: boolean;
  isByAddress: boolean;
}

export interface LimitOptions {
  config: RatelimitConfig;
  vocabulary: Pick<Vocabulary, 'rates' | 'paths'>;
  plans: () => PlanSource | null;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

export function createLimits({ config, vocabulary, plans }: LimitOptions): (caller: Caller | null, request: Request) => Rule | null {
  const total: Window = { slot: 2, limit: config.anonymous.requests_per_hour, seconds: HOUR, what: 'requests' };
  const reads: Window[] = [{ slot: 0, limit: config.anonymous.reads_per_minute, seconds: MINUTE, what: 'reads' }, total];
  const writes: Window[] = [{ slot: 1, limit: config.anonymous.writes_per_minute, seconds: MINUTE, what: 'writes' }, total];
  const own = (name: 'pages' | 'assets' | 'well_known', label: string): RateClass => ({ name, label, windows: classWindows(config[name]), isPlanned: false, isByAddress: false });
  const pages = own('pages', 'pages');
  const taken = [...vocabulary.rates].find(([name]) => RESERVED_CLASSES.includes(name));
  if (taken) throw new Error(`The plugin ${taken[1].plugin} declares the rate class "${taken[0]}", which is an option of ratelimit: it needs another name`);
  const declared = new Map([...vocabulary.rates].map(([name, { label, plan, byAddress }]): [string, RateClass] => [name, { name, label, windows: classWindows(config[name] as ClassLimits), isPlanned: plan ?? false, isByAddress: byAddress ?? false }]));
  const ofPaths = [...vocabulary.paths].flatMap(([path, { rate }]): [string, RateClass][] => (rate ? [[path, declared.get(rate)!]] : []));
  const byPath = new Map<string, RateClass>([['/assets', own('assets', '/assets')], ['/.well-known', own('well_known', '/.well-known')], ...ofPaths]);

  function planRule(caller: Caller, label: string, isApi: boolean): Rule {
    const allowed = (limit: 'requests_per_minute' | 'requests_per_day'): number => plans()?.limitOf(caller.plan, limit) ?? config.without_plan[limit];
    const windows: Window[] = [{ slot: 0, limit: allowed('requests_per_minute'), seconds: MINUTE, what: 'requests' }, { slot: 2, limit: allowed('requests_per_day'), seconds: DAY, what: 'requests' }];
    return { label, isApi, subject: accountSubject(caller.account_id), windows, account: { id: caller.account_id, plan: caller.plan }, isRaisedByAccount: false };
  }

  function classRule({ name, label, windows, isPlanned, isByAddress }: RateClass, caller: Caller | null, request: Request, isApi: boolean): Rule {
    if (caller && isPlanned) return planRule(caller, label, isApi);
    // An account that has used up its plan can still open the page that says so.
    const who = caller && !isByAddress ? accountSubject(caller.account_id) : addressGroup(clientAddressOf(request));
    return { label, isApi, subject: `${name} ${who}`, windows, account: null, isRaisedByAccount: isPlanned };
  }

  return (caller, request) => {
    const rate = rateOf(request);
    if (rate === 'none') return null;
    const top = firstPart(request.path);
    const isApi = top === '/api';
    const own = declared.get(rate) ?? byPath.get(top);
    if (own || !isApi) return classRule(own ?? pages, caller, request, isApi);
    if (caller) return planRule(caller, '/api', true);
    return { label: '/api', isApi, subject: `api ${addressGroup(clientAddressOf(request))}`, windows: rate === 'read' ? reads : writes, account: null, isRaisedByAccount: true };
  };
}

export function accountSubject(id: string): string {
  return `account ${id}`;
}

function classWindows({ requests_per_minute: minute, requests_per_hour: hour }: ClassLimits): Window[] {
  return [{ slot: 0, limit: minute, seconds: MINUTE, what: 'requests' }, { slot: 2, limit: hour, seconds: HOUR, what: 'requests' }];
}

/** The class that the route names, else one by the method as it was sent. A stream is one read, when it opens. */
function rateOf(request: Request): string {
  const declared = request.route.settings.plugins?.civic?.rate;
  if (declared) return declared === 'stream' ? 'read' : declared;
  switch (request.raw.req.method) {
    case 'GET': case 'HEAD': return 'read';
    case 'OPTIONS': return 'none';
    default: return 'write';
  }
}

function firstPart(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path : path.slice(0, end);
}

import { addressGroup, clientAddressOf, type Caller } from 'civic';
import type { Request } from '@hapi/hapi';
import type { AreaLimits, RatelimitConfig } from './config.ts';
import type { Window } from './windows.ts';

/** The part of the accounts plugin's service that says what a plan allows. */
export interface PlanSource {
  planOf(name: string): { requests_per_minute: number; requests_per_day: number };
}

export type Area = 'api' | 'pages' | 'assets' | 'sign_in' | 'oauth' | 'mcp' | 'well_known';

/** Whose counters a request takes from, and which. */
export interface Rule {
  area: Area;
  subject: string;
  windows: readonly Window[];
  /** Set when the limits are those of the account's plan. */
  account: { id: string; plan: string } | null;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** By the first part of the path; everything else is a page. */
const AREAS: Record<string, Area> = { api: 'api', assets: 'assets', oauth: 'oauth', mcp: 'mcp', '.well-known': 'well_known' };

export function createLimits(config: RatelimitConfig, plans: () => PlanSource | null): (caller: Caller | null, request: Request) => Rule | null {
  const total: Window = { slot: 2, limit: config.anonymous.requests_per_hour, seconds: HOUR, what: 'requests' };
  const reads: Window[] = [{ slot: 0, limit: config.anonymous.reads_per_minute, seconds: MINUTE, what: 'reads' }, total];
  const writes: Window[] = [{ slot: 1, limit: config.anonymous.writes_per_minute, seconds: MINUTE, what: 'writes' }, total];
  const areas = {
    pages: areaWindows(config.pages), assets: areaWindows(config.assets), sign_in: areaWindows(config.sign_in),
    oauth: areaWindows(config.oauth), mcp: areaWindows(config.mcp), well_known: areaWindows(config.well_known),
  };

  function planWindows(plan: string): Window[] {
    const { requests_per_minute: minute, requests_per_day: day } = plans()?.planOf(plan) ?? config.without_plan;
    return [{ slot: 0, limit: minute, seconds: MINUTE, what: 'requests' }, { slot: 2, limit: day, seconds: DAY, what: 'requests' }];
  }

  return (caller, request) => {
    const kind = kindOf(request);
    if (kind === 'none') return null;
    const area = areaOf(request, kind);
    if (caller && (area === 'api' || area === 'mcp')) {
      return { area, subject: accountSubject(caller.account_id), windows: planWindows(caller.plan), account: { id: caller.account_id, plan: caller.plan } };
    }
    // Who has used up a plan can still open the page that says so.
    const who = caller && area === 'pages' ? `account ${caller.account_id}` : addressGroup(clientAddressOf(request));
    return { area, subject: `${area} ${who}`, windows: area !== 'api' ? areas[area] : kind === 'read' ? reads : writes, account: null };
  };
}

export function accountSubject(id: string): string {
  return `account ${id}`;
}

function areaWindows({ requests_per_minute: minute, requests_per_hour: hour }: AreaLimits): Window[] {
  return [{ slot: 0, limit: minute, seconds: MINUTE, what: 'requests' }, { slot: 2, limit: hour, seconds: HOUR, what: 'requests' }];
}

type Kind = 'read' | 'write' | 'auth' | 'none';

/** What its route says, else by the method as it was sent. A stream is one read, when it opens. */
function kindOf(request: Request): Kind {
  const declared = request.route.settings.plugins?.civic?.rate;
  if (declared) return declared === 'stream' ? 'read' : declared;
  switch (request.raw.req.method) {
    case 'GET': case 'HEAD': return 'read';
    case 'OPTIONS': return 'none';
    default: return 'write';
  }
}

function areaOf({ path }: Request, kind: Kind): Area {
  const end = path.indexOf('/', 1);
  const area = AREAS[end === -1 ? path.slice(1) : path.slice(1, end)] ?? 'pages';
  return area === 'pages' && kind === 'auth' ? 'sign_in' : area;
}

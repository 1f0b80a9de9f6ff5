import type { Request } from '@hapi/hapi';
import type { Logger } from '../log.ts';

// Also inside an address that travels in another one, as in `/sign-in?next=%2Finvitations%3Ftoken%3D…`.
const SECRET = /((?:[?&]|%3f|%26)(?:ticket|(?:\w+_)?token|(?:x-)?(?:api[_-]?)?key|(?:\w+_)?code|code_verifier|(?:\w+_)?secret|password|sig|signature|(?:\w+_)?assertion|session)(?:=|%3d))(?:(?!%26)[^&#])*/gi;

// An API key is known by its form, wherever somebody pasted it.
const KEY = /(civic_[0-9A-Za-z]{8}_)[0-9A-Za-z]{49}/g;

/** The path and query of a request, without what could let a reader of the log in. */
export function maskedPath(url: string): string {
  const path = url.includes('civic_') ? url.replace(KEY, '$1[masked]') : url;
  return path.includes('?') ? path.replace(SECRET, '$1[masked]') : path;
}

/** Returns the masked path of a request, also without the values that its route declares as `masked`. */
export function loggedPath({ raw, route, params }: Request): string {
  const path = maskedPath(raw.req.url!);
  const names = route.settings.plugins?.civic?.masked;
  if (!names) return path;
  const secrets = names.flatMap((name) => (typeof params?.[name] === 'string' ? [params[name]] : []));
  const [before, ...query] = path.replace(new RegExp(`([?&](?:${names.join('|')})=)[^&#]*`, 'gi'), '$1[masked]').split('?');
  return [before!.split('/').map((segment) => (secrets.includes(decoded(segment)) ? '[masked]' : segment)).join('/'), ...query].join('?');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** One line a request. At `warn` only those that failed or were refused for being too many. */
export function accessLog(log: Logger, level: 'info' | 'warn'): (request: Request) => void {
  // The lines hold nothing that needs masking, and masking costs more than the rest of a line.
  const access = log.child({}, { redact: [] });
  const isQuiet = level === 'warn' || !access.isLevelEnabled('info');

  return (request) => {
    const status = statusOf(request);
    const isTrouble = status >= 500 || status === 429;
    if (isQuiet && !isTrouble) return;
    const line = accessLine(request, status);
    if (isTrouble) access.warn(line, 'request');
    else access.info(line, 'request');
  };
}

/** What was sent; 101 after an upgrade, and what the handler wrote when it took over the raw response. */
export function statusOf(request: Request): number {
  const response = request.response as { statusCode?: number; output?: { statusCode: number } } | symbol;
  if (typeof response === 'symbol') return request.civic.upgrade ? 101 : request.raw.res.statusCode;
  return response.output?.statusCode ?? response.statusCode ?? 0;
}

function accessLine(request: Request, status: number): Record<string, unknown> {
  const state = request.civic;
  const line: Record<string, unknown> = {
    method: request.raw.req.method,
    path: loggedPath(request),
    status,
    ms: Math.round(performance.now() - state.started),
    request_id: state.requestId,
  };
  const account = request.auth.credentials?.account_id;
  if (account) line['account_id'] = account;
  const bytes = bytesOf(request, status);
  if (bytes !== undefined) line['bytes'] = bytes;
  return line;
}

function bytesOf(request: Request, status: number): number | undefined {
  if (request.raw.req.method === 'HEAD' || status === 304) return 0;
  const headers = (request.response as { headers?: Record<string, unknown> }).headers;
  const length = headers?.['content-length'];
  return length === undefined ? undefined : Number(length);
}

import { randomBytes } from 'node:crypto';

/** W3C trace context of one request, and what became of the caller's. */
export interface Trace {
  /** `malformed` is a new trace; a route may refuse it instead. */
  verdict: 'absent' | 'continued' | 'malformed';
  /** The `traceparent` of the answer: the caller's trace or a new one, with this server's own span. */
  parent: string;
  /** The caller's `tracestate`, when it is continued and well formed. */
  state: string | null;
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const MEMBER = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

// Random digits are drawn in bulk: one call to the system serves many requests.
let digits = '';
let used = 0;

/** Random hexadecimal digits. */
export function randomHex(length: number): string {
  if (used + length > digits.length) {
    digits = randomBytes(16384).toString('hex');
    used = 0;
  }
  used += length;
  return digits.slice(used - length, used);
}

/** Continues the caller's trace, or starts one. */
export function readTrace(traceparent: string | undefined, tracestate: string | undefined): Trace {
  if (traceparent === undefined) return startTrace('absent');
  const [, version, trace, span, flags, rest] = PARENT.exec(traceparent.trim()) ?? [];
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || rest === undefined);
  if (!isKnown || trace === NO_TRACE || span === NO_SPAN) return startTrace('malformed');
  const sampled = (parseInt(flags!, 16) & 1) === 1 ? '01' : '00';
  return { verdict: 'continued', parent: `00-${trace}-${randomHex(16)}-${sampled}`, state: readState(tracestate) };
}

function startTrace(verdict: 'absent' | 'malformed'): Trace {
  return { verdict, parent: `00-${randomHex(32)}-${randomHex(16)}-00`, state: null };
}

function readState(tracestate: string | undefined): string | null {
  if (!tracestate) return null;
  const members = tracestate.split(',').map((member) => member.trim()).filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  const isValid = members.length > 0 && members.length <= 32 && keys.size === members.length && members.every((member) => MEMBER.test(member));
  return isValid ? members.join(',') : null;
}

import { Boom } from '@hapi/boom';

/** One thing that can go wrong, as the caller sees it. Every code has a page at `/problems/<code>`. */
export interface ProblemKind {
  status: number;
  title: string;
  /** What the caller can do about it, in one or two sentences; shown on the code's page. */
  advice: string;
  /** Thrown before any handler runs (an unknown key, too many requests), so every operation lists it. */
  anywhere?: boolean;
}

export type ProblemKinds = Record<string, ProblemKind>;

/** Where bad input is: `pointer` into the body (RFC 6901), or the name of a query or path `parameter`. */
export interface InputError {
  pointer?: string;
  parameter?: string;
  detail: string;
}

export interface ProblemDetails {
  /** What happened this time, in one sentence. */
  detail?: string;
  errors?: InputError[];
  headers?: Record<string, string>;
  /** Further members of the problem, such as `merged_into`. */
  extra?: Record<string, unknown>;
  /** Why, for the log only. */
  cause?: unknown;
}

/** What a thrown problem carries under Boom's `data`. */
export interface ProblemData extends ProblemDetails {
  code: string;
}

const CODE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const known = new Map<string, ProblemKind & { owner: string }>();

/**
 * Makes codes known to `problem()`. Core and `definePlugin` call it when a module is loaded;
 * that no two plugins share a code is checked when they are composed.
 */
export function registerProblems(kinds: ProblemKinds, owner = 'core'): void {
  for (const [code, kind] of Object.entries(kinds)) {
    if (!CODE.test(code)) throw new Error(`The problem code "${code}" is not snake_case`);
    known.set(code, { ...kind, owner });
  }
}

/** An error to throw from a handler: answered as RFC 9457 problem+json with the status of its code. */
export function problem(code: string, details: ProblemDetails = {}): Boom<ProblemData> {
  const kind = known.get(code);
  if (!kind) throw new Error(`The problem code "${code}" is not registered: add it to the plugin's problems`);
  const error = new Boom<ProblemData>(details.detail ?? kind.title, {
    statusCode: kind.status,
    data: { ...details, code },
  });
  if (details.cause !== undefined) error.cause = details.cause;
  Object.assign(error.output.headers, details.headers);
  return error;
}

/** The codes of core and of these plugins. */
export function problemsOf(plugins: { name: string }[]): ProblemKinds {
  const owners = new Set(['core', ...plugins.map((plugin) => plugin.name)]);
  const kinds = [...known].filter(([, { owner }]) => owners.has(owner));
  return Object.fromEntries(kinds.map(([code, { owner: _owner, ...kind }]) => [code, kind]));
}

export function problemKind(code: string): (ProblemKind & { owner: string }) | undefined {
  return known.get(code);
}

/** Returns the code, status and texts of a thrown problem, for protocols with other error bodies; null for any other error. */
export function problemOf(error: unknown): (ProblemKind & ProblemData) | null {
  const data = problemData(error);
  return data && { ...known.get(data.code)!, ...data };
}

/** The data of a thrown problem, or null for any other error. */
export function problemData(error: unknown): ProblemData | null {
  if (!(error instanceof Boom)) return null;
  const data = error.data as Partial<ProblemData> | null;
  return data && typeof data.code === 'string' && known.has(data.code) ? (data as ProblemData) : null;
}

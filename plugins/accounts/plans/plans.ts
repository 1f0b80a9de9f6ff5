import type { InstanceRole } from '../types.ts';

/** What the operator writes about a plan. */
export interface PlanOptions {
  price: string;
  requests_per_minute: number;
  requests_per_day: number;
  keys: number;
  runs_per_month: number;
  streams: number;
  sessions: number;
  watched_sources: number;
  /** How long it lasts once given; null when it does not end by itself. */
  days: number | null;
}

/** What a route may ask of a plan in `plugins.civic.plan`. */
export type Capability = 'api_keys' | 'discovery' | 'firehose' | 'watches';

export interface Plan extends PlanOptions {
  name: string;
  capabilities: Capability[];
}

export interface Plans {
  all: Plan[];
  /** The plan of that name; one the operator took away is the default plan. */
  planOf(name: string): Plan;
  /** The plan in force: a lapsed one is the default plan again. */
  current(held: { plan: string; plan_until: string | null }, now: number): Plan;
  has(name: string): boolean;
  /** The plan of an account that the operator creates without naming one: `team` if there is such a plan, else the default plan. */
  operatorPlan: string;
  /** The names of the plans that include this, as they are told to somebody who lacks it. */
  including(capability: string): string[];
}

/** The one place that says what follows from a plan. */
const INCLUDED: Record<Capability, (plan: PlanOptions) => boolean> = {
  api_keys: ({ keys }) => keys > 0,
  discovery: ({ runs_per_month }) => runs_per_month > 0,
  firehose: ({ streams }) => streams > 0,
  watches: ({ watched_sources }) => watched_sources > 0,
};

const OPERATOR_PLAN = 'team';

export const CAPABILITIES = Object.keys(INCLUDED) as Capability[];

const NOTHING: PlanOptions = { price: '', requests_per_minute: 0, requests_per_day: 0, keys: 0, runs_per_month: 0, streams: 0, sessions: 0, watched_sources: 0, days: null };

export function createPlans(table: Record<string, Partial<PlanOptions>>, defaultPlan: string): Plans {
  const plans = new Map(Object.entries(table).map(([name, options]): [string, Plan] => {
    const plan = { ...NOTHING, ...options };
    return [name, { name, ...plan, capabilities: CAPABILITIES.filter((capability) => INCLUDED[capability](plan)) }];
  }));
  const fallback = plans.get(defaultPlan);
  if (!fallback) throw new Error(`default_plan is ${defaultPlan}, but the plans are ${[...plans.keys()].join(', ')}`);
  const planOf = (name: string) => plans.get(name) ?? fallback;
  return {
    all: [...plans.values()],
    planOf,
    current: ({ plan, plan_until }, now) => (plan_until !== null && Date.parse(plan_until) <= now ? fallback : planOf(plan)),
    has: (name) => plans.has(name),
    operatorPlan: plans.has(OPERATOR_PLAN) ? OPERATOR_PLAN : defaultPlan,
    including: (capability) => [...plans.values()].filter(({ capabilities }) => (capabilities as string[]).includes(capability)).map(({ name }) => name),
  };
}

/** Every scope a key may have, and what it takes. */
const SCOPES: Record<string, { capability?: Capability; role?: InstanceRole[] }> = {
  'directory:read': {},
  'entities:write': {},
  'flags:write': {},
  'flags:review': { role: ['reviewer', 'admin'] },
  'discovery:read': { capability: 'discovery' },
  'discovery:write': { capability: 'discovery' },
  'firehose:read': { capability: 'firehose' },
  'workspace:read': {},
  'workspace:write': {},
};

export const KEY_SCOPES = Object.keys(SCOPES);

/** Whether a plan and a role are enough for a scope. */
export function allowsScope(scope: string, plan: Plan, role: InstanceRole): boolean {
  const { capability, role: roles } = SCOPES[scope] ?? { role: [] };
  return (!capability || plan.capabilities.includes(capability)) && (!roles || roles.includes(role));
}

/** What a key gets when nobody says what it is for: everything but judging others' reports. */
export function usualScopes(plan: Plan, role: InstanceRole): string[] {
  return KEY_SCOPES.filter((scope) => scope !== 'flags:review' && allowsScope(scope, plan, role));
}

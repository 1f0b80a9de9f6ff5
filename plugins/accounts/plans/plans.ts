import type { Vocabulary } from 'civic';

/** What the operator writes about a plan: its price, how long it lasts, and the limits that plugins declare. */
export interface PlanOptions {
  price?: string;
  /** How long it lasts once given; null when it does not end by itself. */
  days?: number | null;
  [limit: string]: string | number | null | undefined;
}

export interface Plan {
  name: string;
  price: string;
  days: number | null;
  /** By name, for every limit that a plugin that runs declares. */
  limits: Record<string, number>;
  capabilities: string[];
}

export interface Plans {
  all: Plan[];
  /** The plan of that name; the default plan when the operator removed it. */
  planOf(name: string): Plan;
  /** A limit of the plan of that name; 0 when the plan does not have it. */
  limitOf(name: string, limit: string): number;
  /** The plan in force: the default plan when the account's own has ended. */
  current(held: { plan: string; plan_until: string | null }, now: number): Plan;
  has(name: string): boolean;
  /** The plan of an account that the operator creates without naming one: `team` if there is such a plan, else the default plan. */
  operatorPlan: string;
  /** The names of the plans that include a capability. */
  including(capability: string): string[];
}

const OPERATOR_PLAN = 'team';
/** Members of a plan beside its limits. */
export const PLAN_MEMBERS = ['name', 'price', 'days', 'capabilities'];

export function createPlans(table: Record<string, PlanOptions>, defaultPlan: string, { limits, capabilities }: Pick<Vocabulary, 'limits' | 'capabilities'>): Plans {
  const taken = [...limits].find(([limit]) => PLAN_MEMBERS.includes(limit));
  if (taken) throw new Error(`The plugin ${taken[1].plugin} declares the limit "${taken[0]}", which is a member of every plan: it needs another name`);
  const plans = new Map(Object.entries(table).map(([name, options]): [string, Plan] => {
    const values = Object.fromEntries([...limits.keys()].map((limit) => [limit, Number(options[limit] ?? 0)]));
    const included = [...capabilities].filter(([, { limit }]) => values[limit]! > 0).map(([capability]) => capability);
    return [name, { name, price: options.price ?? '', days: options.days ?? null, limits: values, capabilities: included }];
  }));
  const fallback = plans.get(defaultPlan);
  if (!fallback) throw new Error(`default_plan is ${defaultPlan}, but the plans are ${[...plans.keys()].join(', ')}`);
  const planOf = (name: string) => plans.get(name) ?? fallback;
  return {
    all: [...plans.values()],
    planOf,
    limitOf: (name, limit) => planOf(name).limits[limit] ?? 0,
    current: ({ plan, plan_until }, now) => (plan_until !== null && Date.parse(plan_until) <= now ? fallback : planOf(plan)),
    has: (name) => plans.has(name),
    operatorPlan: plans.has(OPERATOR_PLAN) ? OPERATOR_PLAN : defaultPlan,
    including: (capability) => [...plans.values()].filter((plan) => plan.capabilities.includes(capability)).map(({ name }) => name),
  };
}

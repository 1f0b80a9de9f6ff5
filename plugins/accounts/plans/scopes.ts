import type { Texts, Vocabulary } from 'civic';
import type { InstanceRole } from '../types.ts';
import type { Plan } from './plans.ts';

export interface Scopes {
  /** Every scope that a plugin that runs declares. */
  names: string[];
  /** What a scope allows, in the language of a page; the scope itself when its plugin is off. */
  labelOf(scope: string, t: Texts): string;
  /** The scopes for which a plan and a role are enough. */
  allowed(plan: Plan, role: InstanceRole): string[];
  /** Returns the scopes that a role allows, without regard to the plan. */
  allowedByRole(role: InstanceRole): string[];
  /** The scopes of a key that is created without a list of them: the allowed ones, except those that are given on request only. */
  usual(plan: Plan, role: InstanceRole): string[];
}

const RANK: Record<InstanceRole, number> = { user: 0, reviewer: 1, admin: 2 };

export function createScopes({ scopes }: Pick<Vocabulary, 'scopes'>): Scopes {
  const byRole = (role: InstanceRole) => [...scopes].filter(([, { role: lowest }]) => RANK[role] >= RANK[lowest ?? 'user']);
  const allowed = (plan: Plan, role: InstanceRole) => byRole(role).filter(([, { capability }]) => !capability || plan.capabilities.includes(capability));
  return {
    names: [...scopes.keys()],
    labelOf(scope, t) {
      const known = scopes.get(scope);
      return known ? t.declared(known.plugin, `scopes.${scope}`, known.label) : scope;
    },
    allowed: (plan, role) => allowed(plan, role).map(([scope]) => scope),
    allowedByRole: (role) => byRole(role).map(([scope]) => scope),
    usual: (plan, role) => allowed(plan, role).filter(([, { onRequest }]) => !onRequest).map(([scope]) => scope),
  };
}

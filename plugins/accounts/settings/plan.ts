import type { ServerRoute } from '@hapi/hapi';
import type { Accounts } from '../service.ts';
import type { PersonRow } from '../people/store.ts';
import type { Plan } from '../plans/plans.ts';
import { PAGE } from '../signin/page.ts';
import type { SettingsContext, Shown } from './context.ts';
import { number, when } from './words.ts';

const SHOWN: Shown = { part: 'plan', template: 'plan', title: 'Plan and usage' };

export function planPageRoutes({ accounts, ways: { signedIn }, settingsPage }: SettingsContext): ServerRoute[] {
  const { civic, plans } = accounts;
  const limits = [...civic.vocabulary.limits];
  return [{
    method: 'GET', path: '/account/plan', options: PAGE,
    handler: signedIn(async (visit, request, h) => {
      const { person } = visit;
      const now = civic.clock.now();
      const plan = plans.current(person, now);
      return settingsPage(h, visit, SHOWN, {
        plan: titleOf(plan.name), until: when(person.plan_until, now), hasEnded: person.plan_until !== null && Date.parse(person.plan_until) <= now, ended: titleOf(person.plan),
        meters: await metersOf(accounts, person, plan),
        usage: await civic.pages.parts('accounts.usage', request),
        showPrices: civic.config.show_prices,
        limits: limits.map(([, { label }]) => label),
        plans: plans.all.map((one) => ({ ...row(one, limits.map(([limit]) => limit)), isOwn: one.name === plan.name })),
      });
    }),
  }];
}

async function metersOf({ civic, meters }: Accounts, person: PersonRow, plan: Plan): Promise<object[]> {
  return Promise.all([...meters].map(async ([limit, used]) => meter(civic.vocabulary.limits.get(limit)!.label, await used(person.id), plan.limits[limit]!)));
}

function meter(label: string, used: number, allowed: number) {
  return { label, used: number(used), allowed: number(allowed), value: Math.min(used, allowed), max: Math.max(1, allowed), isFull: allowed > 0 && used >= allowed };
}

/** research_pass, as people read it. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function row({ name, price, limits }: Plan, shown: string[]) {
  return { name: titleOf(name), price: price === '0' ? 'free' : price, cells: shown.map((limit) => number(limits[limit]!)) };
}

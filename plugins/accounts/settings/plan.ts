import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { Accounts } from '../service.ts';
import type { PersonRow } from '../people/store.ts';
import type { Plan } from '../plans/plans.ts';
import { PAGE } from '../signin/page.ts';
import type { SettingsContext } from './context.ts';
import { when } from './words.ts';

export function planPageRoutes({ accounts, ways: { signedIn }, settingsPage }: SettingsContext): ServerRoute[] {
  const { civic, plans } = accounts;
  const limits = [...civic.vocabulary.limits];
  return [{
    method: 'GET', path: '/account/plan', options: PAGE,
    handler: signedIn(async (visit, request, h, t) => {
      const { person } = visit;
      const now = civic.clock.now();
      const plan = plans.current(person, now);
      return settingsPage(h, visit, { part: 'plan', template: 'plan', title: t('parts.plan') }, {
        plan: titleOf(plan.name), until: when(person.plan_until, now, t), hasEnded: person.plan_until !== null && Date.parse(person.plan_until) <= now, ended: titleOf(person.plan),
        meters: await metersOf(accounts, person, plan, t),
        usage: await civic.pages.parts('accounts.usage', request),
        showPrices: civic.config.show_prices,
        limits: limits.map(([limit]) => labelOf(accounts, limit, t)),
        plans: plans.all.map((one) => ({ ...row(one, limits.map(([limit]) => limit), t), isOwn: one.name === plan.name })),
      });
    }),
  }];
}

async function metersOf(accounts: Accounts, person: PersonRow, plan: Plan, t: Texts): Promise<object[]> {
  return Promise.all([...accounts.meters].map(async ([limit, used]) => meter(labelOf(accounts, limit, t), await used(person.id), plan.limits[limit]!)));
}

function labelOf({ civic }: Accounts, limit: string, t: Texts): string {
  const { plugin, label } = civic.vocabulary.limits.get(limit)!;
  return t.declared(plugin, `limits.${limit}`, label);
}

function meter(label: string, used: number, allowed: number) {
  return { label, used, allowed, value: Math.min(used, allowed), max: Math.max(1, allowed), isFull: allowed > 0 && used >= allowed };
}

/** research_pass, as people read it. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function row({ name, price, limits }: Plan, shown: string[], t: Texts) {
  return { name: titleOf(name), price: price === '0' ? null : price, cells: shown.map((limit) => t.formatNumber(limits[limit]!)) };
}

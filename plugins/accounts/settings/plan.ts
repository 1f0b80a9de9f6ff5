import type { ServerRoute } from '@hapi/hapi';
import type { Plan } from '../plans/plans.ts';
import { PAGE } from '../signin/page.ts';
import { settingsPage, type SettingsContext, type Shown } from './context.ts';
import { plotOf } from './plot.ts';
import { number, when } from './words.ts';

const SHOWN: Shown = { part: 'plan', template: 'plan', title: 'Plan and usage' };

export function planPageRoutes({ accounts: { civic, keys, plans, usageOf }, ways: { signedIn } }: SettingsContext): ServerRoute[] {
  return [{
    method: 'GET', path: '/account/plan', options: PAGE,
    handler: signedIn(async (visit, _request, h) => {
      const { person } = visit;
      const now = civic.clock.now();
      const plan = plans.current(person, now);
      const usable = (await keys.list(civic.db.read, person.key)).filter(({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || Date.parse(expires_at) > now)).length;
      const days = await usageOf(person.id);
      const today = days?.at(-1)?.requests ?? 0;
      return settingsPage(h, visit, SHOWN, {
        plan: titleOf(plan.name), until: when(person.plan_until, now), hasEnded: person.plan_until !== null && Date.parse(person.plan_until) <= now, ended: titleOf(person.plan),
        meters: [...(days ? [meter('Requests today', today, plan.requests_per_day)] : []), meter('API keys', usable, plan.keys)],
        days: days?.map(({ day, requests }) => ({ day, requests: number(requests) })), total: days && number(days.reduce((sum, { requests }) => sum + requests, 0)), plot: days && plotOf(days),
        showPrices: civic.config.show_prices,
        plans: plans.all.map((one) => ({ ...row(one), isOwn: one.name === plan.name })),
      });
    }),
  }];
}

function meter(label: string, used: number, allowed: number) {
  return { label, used: number(used), allowed: number(allowed), value: Math.min(used, allowed), max: Math.max(1, allowed), isFull: allowed > 0 && used >= allowed };
}

/** research_pass, as people read it. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function row({ name, price, requests_per_minute, requests_per_day, keys, runs_per_month, streams, watched_sources }: Plan) {
  return { name: titleOf(name), price: price === '0' ? 'free' : price, cells: [requests_per_minute, requests_per_day, keys, runs_per_month, streams, watched_sources].map(number) };
}

import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { EntryHistory, StatedValue } from 'civic/directory';
import { paging } from '../paging.ts';
import type { Site } from '../site.ts';
import { shownValue, type Referred } from '../values.ts';
import { currentEntry, referredBy } from './actors.ts';

type Change = EntryHistory['data'][number];

/** Further claims of one change are only counted: an import may add hundreds. */
const MOST_CLAIMS = 20;

/** The page with the history of an actor. */
export function historyPages(site: Site): ServerRoute[] {
  return [site.page({
    path: '/actors/{id}/history',
    query: paging,
    async load(request, t, h) {
      const entry = await currentEntry(site, request, t, h);
      if (entry.state !== 'current') return entry.response;
      const { id } = entry.actor;
      const { name, data, total, names, next_cursor: next } = await site.directory.entryHistory(request, id);
      const referred = await referredBy(site, { affiliated: new Set(), values: data.flatMap(({ claims }) => claims as Pick<StatedValue, 'property' | 'value'>[]) as StatedValue[] }, t);
      return {
        template: 'history',
        context: {
          title: t('history.title', { name }), isUnlisted: true,
          crumbs: [{ name, href: `/actors/${id}` }],
          total,
          changes: data.map((change) => shownChange(change, names, referred)),
          next: next && `/actors/${id}/history?cursor=${next}`,
        },
      };
    },
  })];
}

function shownChange(change: Change, names: ReadonlyMap<string, string>, referred: Referred) {
  const { t } = referred;
  return {
    at: change.at,
    date: t.formatDate(change.at),
    what: actionOf(change, names, t),
    by: t(`history.by.${change.by}`),
    reason: change.reason,
    claims: change.claims.slice(0, MOST_CLAIMS).map(({ change: what, property, value, source_id: source, source_url: url }) => ({
      what: t(`history.claims.${what}`), label: t(`statement.properties.${property}`), value: shownValue({ property, value }, referred).text, source: `/sources/${source}`, url,
    })),
    unlisted: Math.max(0, change.claims.length - MOST_CLAIMS),
  };
}

/** Returns what a change did, such as "merged with", and the names of the other actors, except those deleted since. */
function actionOf({ action, merged_into: into, with: others = [] }: Change, names: ReadonlyMap<string, string>, t: Texts): string {
  const named = (into ? [into] : others).flatMap((id) => names.get(id) ?? []).join(', ');
  if (action === 'merged' || action === 'split') return t(`history.${into ? 'merged_into' : action}`, { names: named || t('history.another') });
  return t(`history.actions.${action}`);
}

import type { Texts } from 'civic';
import type { DrawnMap } from './drawn.ts';
import { levelsFor } from './levels.ts';

/** An area that a map shows, and a row of the table beside it. */
export interface AreaCount {
  /** The id of the area in the drawn map. Areas that the map lacks are only in the table. */
  id: string;
  name: string;
  href: string;
  count: number;
}

/** What the partial `site/map` shows. */
export interface ShownMap {
  box: string;
  areas: { href: string; title: string; level: number; path: string }[];
  legend: { level: number; words: string }[];
}

export function shownMap(map: DrawnMap, counts: AreaCount[], t: Texts): ShownMap {
  const byId = new Map(counts.map((area) => [area.id, area]));
  const { levelOf, legend } = levelsFor(counts.map(({ count }) => count));
  return {
    box: map.box,
    areas: map.areas.flatMap(({ id, path }) => {
      const area = byId.get(id);
      return area ? [{ href: area.href, title: t('map.area', { name: area.name, count: area.count }), level: levelOf(area.count), path }] : [];
    }),
    legend: [
      ...legend.map(({ level, from, to }) => ({ level, words: to === null ? t('map.at_least', { from }) : t('map.between', { from, to }) })),
      { level: 0, words: t('map.none') },
    ],
  };
}

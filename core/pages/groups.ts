import type { Plugin, ReferenceDeclaration } from '../plugin.ts';
import type { Texts } from '../texts/texts.ts';

/** The members of a plugin that the API page reads. */
export type DescribedPlugin = Pick<Plugin, 'name' | 'summary' | 'reference'>;

const LAST = 100;

/** Returns the names of plugins in the order in which the API page shows them. */
export function referenceOrder(plugins: DescribedPlugin[]): string[] {
  return plugins.toSorted((a, b) => (a.reference?.order ?? LAST) - (b.reference?.order ?? LAST)).map(({ name }) => name);
}

/** Operations under one heading. */
export interface Section<Item> {
  id: string;
  title: string;
  operations: Item[];
}

/** Divides the operations of a plugin by the first part of their paths, in the order that the plugin declares. */
export function sectionsOf<Item extends { path: string }>(operations: Item[], plugin: string, { sections = {} }: Partial<ReferenceDeclaration>, t: Texts): Section<Item>[] {
  const order = Object.keys(sections);
  const parts = [...new Set(operations.map(({ path }) => partOf(path)))];
  const others = parts.filter((part) => !Object.hasOwn(sections, part));
  return [...order, ...others].filter((part) => parts.includes(part)).map((part) => ({
    id: `section-${part.replace(/[^\w-]/g, '-')}`,
    title: Object.hasOwn(sections, part) ? t.declared(plugin, `reference.sections.${part}`, sections[part]!) : part,
    operations: operations.filter(({ path }) => partOf(path) === part),
  }));
}

/** Returns the first part of a path, after `/api`: `places` of `/api/places/{place_key}`, `oauth` of `/oauth/token`. */
function partOf(path: string): string {
  const [first, second] = path.slice(1).split('/');
  return first === 'api' ? second ?? first : first!;
}

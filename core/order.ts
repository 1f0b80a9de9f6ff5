import type { Plugin } from './plugin.ts';

/** What stops a set of plugins from being put in order: one that is missing, or a circle. */
export type OrderFault =
  | { kind: 'missing'; plugin: string; need: string }
  | { kind: 'cycle'; plugins: string[] };

export interface Ordered {
  plugins: Plugin[];
  faults: OrderFault[];
}

/** Plugins before those that need or use them; otherwise in the order they are named. */
export function orderPlugins(plugins: Plugin[]): Ordered {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const faults: OrderFault[] = [];
  const ordered: Plugin[] = [];
  const done = new Set<string>();

  const visit = (plugin: Plugin, path: string[]): void => {
    if (done.has(plugin.name)) return;
    const seenAt = path.indexOf(plugin.name);
    if (seenAt >= 0) {
      addCycle(faults, path.slice(seenAt));
      return;
    }
    for (const name of earlier(plugin)) {
      const other = byName.get(name);
      if (other) visit(other, [...path, plugin.name]);
    }
    if (done.has(plugin.name)) return;
    done.add(plugin.name);
    ordered.push(plugin);
  };

  for (const plugin of plugins) {
    for (const need of plugin.needs ?? []) {
      if (!byName.has(need)) faults.push({ kind: 'missing', plugin: plugin.name, need });
    }
    visit(plugin, []);
  }
  return { plugins: ordered, faults };
}

/** `needs` and `uses` both order: a circle over either has no first. */
function earlier(plugin: Plugin): string[] {
  return [...(plugin.needs ?? []), ...(plugin.uses ?? [])];
}

/** A circle is reported once, wherever it was entered. */
function addCycle(faults: OrderFault[], members: string[]): void {
  const start = members.indexOf([...members].sort()[0]!);
  const plugins = [...members.slice(start), ...members.slice(0, start)];
  const isKnown = faults.some((fault) => fault.kind === 'cycle' && fault.plugins.join() === plugins.join());
  if (!isKnown) faults.push({ kind: 'cycle', plugins });
}

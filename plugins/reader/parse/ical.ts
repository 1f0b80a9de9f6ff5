import { LIMITS, type Cut } from './limits.ts';

export interface Property {
  parameters: Record<string, string>;
  value: string;
}

export interface Component {
  name: string;
  properties: Map<string, Property[]>;
  components: Component[];
}

const MOST_DEPTH = 10;

/** Parses iCalendar (RFC 5545) into components. Lines that are wrong are left out. */
export function parseComponents(text: string, cut: Cut): Component {
  const root: Component = { name: '', properties: new Map(), components: [] };
  const open = [root];
  let lines = 0;
  for (const line of text.replace(/\r?\n[ \t]|\r[ \t](?!\n)/g, '').split(/\r?\n|\r/, LIMITS.calendar_lines + 1)) {
    if (++lines > LIMITS.calendar_lines) {
      cut.truncated = true;
      break;
    }
    const parsed = parseLine(line);
    if (!parsed) continue;
    const [name, property] = parsed;
    const at = open.at(-1)!;
    if (name === 'BEGIN' && open.length < MOST_DEPTH) {
      const component: Component = { name: property.value.trim().toUpperCase(), properties: new Map(), components: [] };
      at.components.push(component);
      open.push(component);
    } else if (name === 'END') {
      if (at.name === property.value.trim().toUpperCase()) open.pop();
    } else if (at.properties.has(name)) {
      at.properties.get(name)!.push(property);
    } else {
      at.properties.set(name, [property]);
    }
  }
  return root;
}

function parseLine(line: string): [name: string, property: Property] | null {
  const start = /^[A-Za-z0-9-]+/.exec(line)?.[0];
  if (!start) return null;
  const parameters: Record<string, string> = {};
  let rest = line.slice(start.length);
  for (;;) {
    if (rest.startsWith(':')) return [start.toUpperCase(), { parameters, value: rest.slice(1) }];
    const found = /^;([A-Za-z0-9-]{1,60})=("[^"]*"|[^":;]*)/.exec(rest);
    if (!found) return null;
    parameters[found[1]!.toUpperCase()] = found[2]!.replace(/^"|"$/g, '');
    rest = rest.slice(found[0].length);
  }
}

/** Returns the first value of a property as text; null when it is absent or empty. */
export function textOf({ properties }: Component, name: string): string | null {
  const value = properties.get(name)?.[0]?.value;
  return value === undefined ? null : unescapeText(value).trim() || null;
}

export function unescapeText(value: string): string {
  return value.replace(/\\([\\;,nN])/g, (_all, character: string) => (character === 'n' || character === 'N' ? '\n' : character));
}

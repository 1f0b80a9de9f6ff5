import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { NamePair } from './synthetic.ts';

interface Named {
  kind: 'person' | 'organization';
  id: string;
  name: string;
  family: string;
  others: string[];
}

interface OpenStates {
  id: string;
  name: string;
  given_name?: string;
  family_name?: string;
  classification?: string;
  other_names?: { name: string }[];
}

/**
 * Name pairs from a state's folder of Open States: everybody's name with the other names the data gives them, and with those of
 * others who share a family name, a first word, or the place next to them in the alphabet.
 */
export function openStatesPairs(folder: string): NamePair[] {
  const named = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\/.*\.ya?ml$/.test(file)).sort().map((file) => read(join(folder, file)));
  return (['person', 'organization'] as const).flatMap((kind) => {
    const all = named.filter((one) => one.kind === kind).sort((one, other) => (one.name < other.name ? -1 : 1));
    return [...all.flatMap(same), ...all.flatMap((one, at) => different(one, all.slice(at + 1)))];
  });
}

function read(file: string): Named {
  const { id, name, given_name: given, family_name: family, other_names: others = [] } = parse(readFileSync(file, 'utf8')) as OpenStates;
  const kind = id.startsWith('ocd-person/') ? 'person' : 'organization';
  const both = given && family ? [`${given} ${family}`, `${family}, ${given}`] : [];
  return { kind, id, name, family: family ?? name.split(' ')[0]!, others: [...others.map((other) => other.name), ...both] };
}

function same({ kind, name, others }: Named): NamePair[] {
  return [...new Set(others)].filter((other) => other !== name).map((other) => ({ left: name, right: other, type: kind, isMatch: true }));
}

function different(one: Named, following: Named[]): NamePair[] {
  const near = following.filter((other, at) => at === 0 || other.family === one.family);
  return near.flatMap((other) => {
    const names = [other.name, ...other.others.slice(0, 2)];
    // Two who bear one name cannot be told apart by it.
    const own = new Set([one.name, ...one.others]);
    if (other.id === one.id || names.some((name) => own.has(name))) return [];
    return names.map((name) => ({ left: one.name, right: name, type: one.kind, isMatch: false }));
  });
}

import { isMap } from 'yaml';
import type { ConfigDocument } from '../config/load.ts';
import { entryAt, placeOf, type Source } from '../config/yaml.ts';
import { defaultPlugins, hasOwnFile } from '../defaults.ts';
import { editedFile } from './off.ts';

/** How to switch a plugin on: where to write, and the exact lines. */
export interface SwitchOn {
  file: string;
  instruction: string;
  lines: string[];
}

/** Returns the lines that switch a plugin on in the operator's config file, and the place for them. */
export function switchOn(name: string, from: string | null, document: ConfigDocument): SwitchOn {
  const file = editedFile(document);
  const section = (indent: string): string[] => [`${indent}${name}:`, ...(from === null ? [] : [`${indent}${indent}from: ${JSON.stringify(from)}`])];
  const whole = ['plugins:', ...section('  ')];
  if (!hasOwnFile(document)) {
    const others = defaultPlugins().map((other) => `  ${other}:`);
    return { file, instruction: `There is no config file yet. Create ${file} with these lines; they keep the default plugins on:`, lines: ['plugins:', ...others, ...section('  ')] };
  }
  if (document.isBroken || !document.source) return { file, instruction: `${file} cannot be read (bin/civic config check shows why). Once it can, add:`, lines: whole };
  const named = entryAt(document.source, ['plugins', name]);
  if (named) return { file, instruction: `${file} names it already${lineOf(document.source, ['plugins', name])}. Change that section to:`, lines: section(indentOf(document.source, named.key)) };
  return { file, ...placeFor(document.source, file, section, whole, JSON.stringify(name) + (from === null ? ': {}' : `: { "from": ${JSON.stringify(from)} }`)) };
}

function lineOf(source: Source, path: string[]): string {
  const entry = entryAt(source, path);
  return entry ? ` on line ${placeOf(source, entry, 'key').where.line}` : '';
}

function placeFor(source: Source, file: string, section: (indent: string) => string[], whole: string[], inBraces: string): Omit<SwitchOn, 'file'> {
  const entry = entryAt(source, ['plugins']);
  if (!entry) return { instruction: `Add at the end of ${file}:`, lines: whole };
  const line = lineOf(source, ['plugins']);
  if (!isMap(entry.value)) return { instruction: `Add to ${file}, directly below "plugins:"${line}:`, lines: section('  ') };
  if (!entry.value.flow) return { instruction: `Add to ${file}, directly below "plugins:"${line}:`, lines: section(indentOf(source, entry.value.items[0]?.key)) };
  if (entry.value.items.length === 0) return { instruction: `In ${file}, replace "plugins: {}"${line} by:`, lines: whole };
  return { instruction: `Add to ${file}, directly behind the opening brace of "plugins"${line}:`, lines: [`  ${inBraces},`] };
}

/** Lines of one map share their indentation. */
function indentOf(source: Source, key: unknown): string {
  const offset = (key as { range?: [number] } | undefined)?.range?.[0] ?? 0;
  return ' '.repeat(source.lines.linePos(offset).col - 1);
}

import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { fullPath } from './explain.ts';
import { isOption } from './format.ts';
import { place } from './load.ts';
import { nearestPath, sectionsOf } from './nearest.ts';
import { pluginOptions } from './options.ts';
import { type Check, fail, type Given, take } from './take.ts';
import type { ConfigFragment, ConfigOption } from './types.ts';
import { fill } from './variables.ts';
import { entryAt, keyText, plainValue, printable, resolved, type Step, Unreadable } from './yaml.ts';

function takeFromFile(check: Check, path: string, option: ConfigOption, node: Node | null): void {
  const { document } = check;
  const steps = path.split('.');
  const at = (inner: Step[], part: 'key' | 'value') => place(document, [...steps, ...inner], part);
  const line = at([], 'key').where.line;
  const given: Given = { value: undefined, isText: false, isHidden: false, origin: { kind: 'file', where: `${document.file}:${line}` }, place: at };
  let isFilled = true;
  try {
    given.value = plainValue(document.source!, node, (text, inner) => {
      const filled = fill(text, document.env, document.cwd);
      given.isHidden ||= filled.filled;
      given.isText ||= filled.whole && inner.length === 0;
      for (const problem of filled.problems) {
        isFilled = false;
        fail(check, path, at(inner, option.sensitive ? 'key' : 'value'), { message: `${fullPath(path, inner)} ${problem.message}`, hint: problem.hint });
      }
      for (const name of text.matchAll(/\$\{(\w+)\}/g)) check.used.add(name[1]!);
      return filled.text;
    });
  } catch (error) {
    check.given.add(path);
    if (error instanceof Unreadable) return;
    const message = `${path} is endless or far too large, because an alias in it repeats itself`;
    return fail(check, path, at([], 'key'), { message, hint: 'write the value out instead of *alias' });
  }
  if (isFilled) take(check, path, option, given);
  else check.given.add(path);
}

/** Checks a part of the file against its options, takes what is right, and reports what is not known. */
export function checkSection(check: Check, map: YAMLMap, fragment: ConfigFragment, parent: string): void {
  for (const { key, value } of map.items as { key: Node; value: Node | null }[]) {
    const name = keyText(key);
    const path = parent ? `${parent}.${name}` : name;
    if (path === 'plugins' && check.schema.plugins) checkPlugins(check, value);
    else if (!Object.hasOwn(fragment, name)) unknownKey(check, name, parent, fragment);
    else if (isOption(fragment[name]!)) takeFromFile(check, path, fragment[name], value);
    else {
      const inner = fragment[name] as ConfigFragment;
      checkMap(check, path, value, (section) => checkSection(check, section, inner, path), `beneath it: ${Object.keys(inner).join(', ')}`);
    }
  }
}

/** A section is a map, or nothing at all. */
function checkMap(check: Check, path: string, node: Node | null, then: (map: YAMLMap) => void, hint: string): void {
  const target = resolved(check.document.source!, node);
  if (isMap(target)) then(target);
  if (isMap(target) || !target || (isScalar(target) && target.value === null)) return;
  fail(check, path, place(check.document, path.split('.'), 'key'), { message: `${path} must be a section, with its options on lines of their own`, hint });
}

function unknownKey(check: Check, name: string, parent: string, fragment: ConfigFragment): void {
  const paths = [...check.options.keys()];
  const sections = sectionsOf(paths);
  const plugins = check.available.map((plugin) => `plugins.${plugin}`);
  const near = nearestPath(name, parent, [...paths, ...sections, ...plugins]);
  const path = printable(parent ? `${parent}.${name}` : name);
  const hints = [
    name.includes('.') && check.options.has(path) && `write each part on a line of its own: ${name.split('.').join(': and beneath it ')}:`,
    name === '<<' && 'merge keys are not understood: write the options out',
    near && `did you mean ${near}?`,
    `known here: ${Object.keys(fragment).join(', ')}`,
  ];
  const hint = hints.find((one) => typeof one === 'string');
  fail(check, path, place(check.document, [...(parent ? parent.split('.') : []), name], 'key'), { message: `${path} is not known`, hint });
}

function checkPlugins(check: Check, node: Node | null): void {
  const { document, loaded } = check;
  checkMap(check, 'plugins', node, () => {}, 'name each plugin on a line of its own, with a colon behind it');
  for (const { name } of document.plugins) {
    const entry = entryAt(document.source!, ['plugins', name]);
    const path = `plugins.${printable(name)}`;
    if (!entry) continue;
    const isOff = isScalar(entry.value) && entry.value.value === false;
    const hint = isOff ? 'to switch it off, remove the line or write "enabled: false" beneath it' : 'to switch it on, write its name and a colon and nothing else';
    checkMap(check, path, entry.value, (map) => {
      const fragment = check.schema.plugins as ConfigFragment;
      if (loaded.has(name)) checkSection(check, map, fragment[name] as ConfigFragment, path);
      else for (const option of Object.keys(pluginOptions)) takeIfThere(check, name, option);
    }, hint);
  }
}

/** Of a plugin that is off or not loaded only what core itself reads is checked. */
function takeIfThere(check: Check, plugin: string, option: string): void {
  const entry = entryAt(check.document.source!, ['plugins', plugin, option]);
  const path = `plugins.${plugin}.${option}`;
  if (entry && check.options.has(path)) takeFromFile(check, path, check.options.get(path)!, entry.value);
}

import { isOption } from './format.ts';
import { variableName, variableNames } from './load.ts';
import { nearest, nearestPath, sectionsOf } from './nearest.ts';
import { call, variablePrefix } from '../program.ts';
import { type Check, fail, take } from './take.ts';
import type { ConfigOption, Origin } from './types.ts';
import { variable } from './variables.ts';

export function takeFromEnvironment(check: Check, path: string, option: ConfigOption): void {
  const { env, cwd } = check.document;
  const found = variableNames(path, option).map((name) => variable(name, env, cwd)).filter((one) => one !== undefined);
  const at = () => ({ where: { variable: found[0]!.name } });
  if (found.length > 1) {
    const message = `${found.map((one) => one.name).join(' and ')} are both set, and both mean ${path}`;
    return fail(check, path, at(), { message, hint: 'keep one of the two' });
  }
  const [one] = found;
  if (!one) return;
  check.given.add(path);
  if (one.problem) return fail(check, path, at(), { message: one.problem, hint: one.hint });
  const origin: Origin = { kind: 'environment', where: one.name };
  take(check, path, option, { value: one.text, isText: true, isHidden: one.name.endsWith('_FILE'), origin, place: at });
}

/** After the prefix. */
const OTHER_VARIABLES = /^(CONFIG$|TEST_|REQUIRE_|UPDATE_)/;

/** A variable that looks like one of ours but is not is a typing mistake; others are none of our business. */
export function checkVariables(check: Check): void {
  const prefix = variablePrefix();
  const known = new Map([...check.options].flatMap(([path, option]) => variableNames(path, option).map((name) => [name, path])));
  for (const [name, value] of Object.entries(check.document.env)) {
    if (!value || !name.startsWith(prefix) || OTHER_VARIABLES.test(name.slice(prefix.length))) continue;
    const names = [name, name.replace(/_FILE$/, '')];
    if (!names.some((one) => known.has(one) || check.used.has(one))) unknownVariable(check, name, known);
  }
}

function unknownVariable(check: Check, name: string, known: Map<string, string>): void {
  const { document, schema, loaded, available } = check;
  const at = { where: { variable: name } };
  const plugin = /^PLUGINS_([A-Z0-9]+)_/.exec(name.slice(variablePrefix().length))?.[1]?.toLowerCase();
  if (plugin && !loaded.has(plugin)) {
    const isNamed = document.isBroken || document.plugins.some((one) => one.name === plugin);
    if (isNamed) return;
    if (available.includes(plugin)) {
      const hint = `name it under plugins:, or set ${variableName(`plugins.${plugin}.enabled`)}=true`;
      return fail(check, `plugins.${plugin}`, at, { message: `${name} is set, but the plugin ${plugin} is not switched on`, hint });
    }
  }
  const near = nearestVariable(name.replace(/_FILE$/, ''), known);
  const section = Object.keys(schema).find((key) => !isOption(schema[key]!) && name.startsWith(`${variableName(key)}_`));
  if (!near && !section) return;
  const hint = near ? `did you mean ${near}?` : `${call('config help')} lists them all`;
  fail(check, known.get(near ?? '') ?? section ?? '', at, { message: `${name} is not the variable of any option`, hint });
}

/** Returns the variable of the option that the config check would name for the same key in the file, or else the most similar variable. */
function nearestVariable(name: string, known: Map<string, string>): string | undefined {
  const paths = [...new Set(known.values())];
  const parent = [...sectionsOf(paths)].filter((section) => name.startsWith(`${variableName(section)}_`)).sort((one, other) => other.length - one.length)[0];
  const path = parent && nearestPath(name.slice(variableName(parent).length + 1).toLowerCase(), parent, paths);
  if (path) return variableName(path);
  const bare = (variable: string) => variable.slice(variablePrefix().length);
  const near = nearest(bare(name), [...known.keys(), variableName('config')].map(bare));
  return near && `${variablePrefix()}${near}`;
}

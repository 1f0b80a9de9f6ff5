import { type Check, fail, take } from './check.ts';
import { isOption } from './format.ts';
import { variableName } from './load.ts';
import { nearest } from './nearest.ts';
import type { ConfigOption } from './types.ts';
import { variable } from './variables.ts';

export function takeFromEnvironment(check: Check, path: string, option: ConfigOption): void {
  const { env, cwd } = check.document;
  const names = [variableName(path), ...(option.env ? [option.env] : [])];
  const found = names.map((name) => variable(name, env, cwd)).filter((one) => one !== undefined);
  const at = () => ({ where: { variable: found[0]!.name } });
  if (found.length > 1) return fail(check, path, at(), { message: `${found.map((one) => one.name).join(' and ')} are both set, and both mean ${path}`, hint: 'keep one of the two' });
  const [one] = found;
  if (!one) return;
  check.given.add(path);
  if (one.problem) return fail(check, path, at(), { message: one.problem, hint: one.hint });
  take(check, path, option, { value: one.text, isText: true, isHidden: one.name.endsWith('_FILE'), origin: { kind: 'environment', where: one.name }, place: at });
}

const OTHER_VARIABLES = /^CIVIC_(CONFIG$|TEST_|REQUIRE_|UPDATE_)/;

/** A variable that looks like one of ours but is not is a typing mistake; others are none of our business. */
export function checkVariables(check: Check): void {
  const { document, options, available, schema, used } = check;
  const known = new Map([...options].flatMap(([path, { env }]) => [variableName(path), ...(env ? [env] : [])].map((name) => [name.slice(6), path])));
  for (const variable of Object.keys(document.env)) {
    const name = variable.slice(6).replace(/_FILE$/, '');
    if (!variable.startsWith('CIVIC_') || !document.env[variable] || known.has(name) || known.has(variable.slice(6))) continue;
    if (OTHER_VARIABLES.test(variable) || used.has(variable) || used.has(variable.replace(/_FILE$/, ''))) continue;
    const at = { where: { variable } };
    const plugin = /^PLUGINS_([A-Z0-9]+)_/.exec(name)?.[1]?.toLowerCase();
    if (plugin && (document.isBroken || document.plugins.some((one) => one.name === plugin && !check.loaded.has(plugin)))) continue;
    if (plugin && available.includes(plugin) && !check.loaded.has(plugin)) {
      fail(check, `plugins.${plugin}`, at, { message: `${variable} is set, but the plugin ${plugin} is not switched on`, hint: `name it under plugins:, or set CIVIC_PLUGINS_${plugin.toUpperCase()}_ENABLED=true` });
      continue;
    }
    const near = nearest(name, [...known.keys(), 'CONFIG']);
    const section = Object.keys(schema).find((key) => !isOption(schema[key]!) && name.startsWith(`${key.toUpperCase()}_`));
    if (near || section) fail(check, known.get(near ?? '') ?? section ?? '', at, { message: `${variable} is not the variable of any option`, hint: near ? `did you mean CIVIC_${near}?` : 'bin/civic config help lists them all' });
  }
}

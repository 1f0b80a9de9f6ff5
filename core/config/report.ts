import { stringify } from 'yaml';
import { styled, type Style } from '../cli/style.ts';
import { optionsOf } from './format.ts';
import type { ConfigError, ConfigFragment, CoreConfig, Origin } from './types.ts';

function styler(color: boolean): (style: Style, text: string) => string {
  return (style, text) => (color ? styled(style, text) : text);
}

function whereWords({ file, line, column, variable, argument }: ConfigError['where']): string {
  if (variable) return `environment variable ${variable}`;
  if (argument) return `argument ${argument}`;
  return [file ?? 'configuration', line, column].filter((part) => part !== undefined).join(':');
}

function inOrder(one: ConfigError, other: ConfigError): number {
  const rank = ({ where }: ConfigError) => (where.argument ? 3 : where.variable ? 2 : where.line === undefined ? 0 : 1);
  return rank(one) - rank(other) || (one.where.line ?? 0) - (other.where.line ?? 0) || (one.where.column ?? 0) - (other.where.column ?? 0);
}

function describeError(error: ConfigError, style: ReturnType<typeof styler>): string {
  const { where, frame, message, hint, read } = error;
  const lines = [style('bold', whereWords(where)), `  ${style('red', message)}`];
  if (frame && where.line !== undefined) {
    const gutter = String(where.line);
    const pointer = ' '.repeat(frame.caret) + style('red', '^'.repeat(frame.length));
    lines.push('', `    ${style('dim', `${gutter} |`)} ${frame.text}`, `    ${style('dim', `${' '.repeat(gutter.length)} |`)} ${pointer}`, '');
  }
  if (hint) lines.push(`  Fix:  ${style('cyan', hint)}`);
  if (read) lines.push(`  Read: ${read}`);
  return lines.join('\n');
}

/** All errors as one text, in the order of the file, then the environment, then the command line. */
export function describeErrors(errors: ConfigError[], { color }: { color: boolean }): string {
  const style = styler(color);
  const head = errors.length === 1 ? 'The configuration has a mistake' : `The configuration has ${errors.length} mistakes`;
  return [head + ':', ...errors.toSorted(inOrder).map((error) => describeError(error, style))].join('\n\n');
}

/** The text of each error, in the same order. */
export function describeEach(errors: ConfigError[]): string[] {
  return errors.toSorted(inOrder).map((error) => describeError(error, styler(false)));
}

export const MASK = '[masked]';

/** The value at a dotted path. */
function valueAt(config: unknown, path: string): unknown {
  return path.split('.').reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], config);
}

/** Returns every option with its effective value, and whether it is a secret. */
export function optionValues(config: CoreConfig, schema: ConfigFragment): { path: string; value: unknown; isSecret: boolean }[] {
  return optionsOf(schema).map(([path, { sensitive }]) => ({ path, value: valueAt(config, path), isSecret: sensitive === true }));
}

/** Every option with its effective value, secrets masked when they are set. */
function effective(config: CoreConfig, schema: ConfigFragment): [string, unknown][] {
  return optionValues(config, schema).map(({ path, value, isSecret }) => [path, isSecret && value !== null && value !== undefined ? MASK : value]);
}

/** The effective configuration as plain data, secrets masked: for `--json` and backups. */
export function maskedConfig(config: CoreConfig, schema: ConfigFragment): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [path, value] of effective(config, schema)) {
    const steps = path.split('.');
    const last = steps.pop()!;
    const section = steps.reduce((here, step) => (here[step] ??= {}) as Record<string, unknown>, result);
    section[last] = value;
  }
  return result;
}

/** The same with where each value came from, by path: for `--json --origin`. */
export function configOrigins(config: CoreConfig, origins: Map<string, Origin>, schema: ConfigFragment): Record<string, { value: unknown; origin: Origin }> {
  return Object.fromEntries(effective(config, schema).map(([path, value]) => [path, { value, origin: origins.get(path)! }]));
}

function originWords(origin: Origin | undefined): string {
  return origin && origin.kind !== 'default' ? `  # from ${origin.where}` : '  # default';
}

/** The effective configuration as YAML, secrets masked, on request each value with where it came from. */
export function showConfig(config: CoreConfig, origins: Map<string, Origin>, schema: ConfigFragment, { origin, color }: { origin: boolean; color: boolean }): string {
  const style = styler(color);
  const lines: string[] = [];
  let open: string[] = [];
  for (const [path, value] of effective(config, schema)) {
    const steps = path.split('.');
    steps.slice(0, -1).forEach((step, depth) => {
      if (open.slice(0, depth + 1).join('.') !== steps.slice(0, depth + 1).join('.')) lines.push(`${'  '.repeat(depth)}${style('bold', step)}:`);
    });
    open = steps.slice(0, -1);
    const text = stringify({ [steps.at(-1)!]: value }, { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(1, -1).trim();
    lines.push(`${'  '.repeat(open.length)}${text}${origin ? style('dim', originWords(origins.get(path))) : ''}`);
  }
  return lines.join('\n');
}

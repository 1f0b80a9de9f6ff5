import { describeErrors } from '../config/report.ts';
import type { ConfigError } from '../config/types.ts';
import { compose, type Composition, type OpenOptions } from '../compose.ts';
import { createCommandLogger } from '../log.ts';
import { prepare, type Prepared, type Settings } from '../prepare.ts';
import { call } from '../program.ts';
import { Failure, Misuse, shellWord, type CommandCall, type Terminal } from './command.ts';

type Options = CommandCall['options'];

/** Where the configuration comes from, as the command line says. */
export function settingsOf({ config, data, host, port }: Options): Settings {
  const given = Object.entries({ data, host, port }).filter(([, value]) => typeof value === 'string');
  return { env: process.env, args: Object.fromEntries(given) as Record<string, string>, file: config as string | undefined };
}

/** Returns the settings of an instance that shows demo data, whatever its config file says. */
export function withDemo(settings: Settings): Settings {
  return { ...settings, env: { ...settings.env, CIVIC_DEMO: 'true' } };
}

/** The command that restores a backup into the instance these options name. */
export function restoreCommand({ config, data }: Options): (folder: string) => string {
  const given = Object.entries({ config, data }).flatMap(([name, value]) => (typeof value === 'string' ? [`--${name}`, shellWord(value)] : []));
  return (folder) => [call('restore'), shellWord(folder), ...given].join(' ');
}

/** Returns the configuration, or throws an error that lists everything wrong with it. */
export async function preparedOrFail(settings: Settings, terminal: Terminal): Promise<Prepared> {
  const prepared = await prepare(settings);
  rejectErrors(prepared.errors, terminal);
  return prepared;
}

/** Throws an error that lists all errors of the configuration, when there are any. */
export function rejectErrors(errors: ConfigError[], terminal: Terminal): void {
  if (errors.length === 0) return;
  const text = describeErrors(errors, { color: hasColor(terminal) });
  // A value on the command line that cannot be right is wrong usage; a file it names may be missing for other reasons.
  throw errors.every(({ where }) => where.argument !== undefined && where.argument !== '--config') ? new Misuse(text) : new Failure(text);
}

export function hasColor(terminal: Terminal): boolean {
  return terminal.style('bold', 'x') !== 'x';
}

/** The composition of a command other than `serve`: it says what it does in words, and the log is for what goes wrong beside that. */
export async function compositionOf({ config, plugins, origins, schema }: Prepared, level: 'warn' | 'error' = 'warn'): Promise<Composition> {
  return compose({ config, plugins, origins, schema, log: createCommandLogger(process.stderr, level) });
}

/** Runs `work` with the database open, and closes it whatever happens. */
export async function withDatabase(composition: Composition, options: OpenOptions, work: () => Promise<void>): Promise<void> {
  try {
    await composition.open(options);
    await work();
  } finally {
    await composition.stop();
  }
}

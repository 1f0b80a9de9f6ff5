import type { ConfigFragment } from './config/types.ts';

/** A program in `bin/`: the kit with a name, commands and a configuration. A plugin with a `program.ts` has a program of its own name, and is for that program only. */
export interface Program {
  /** The name of its file in `bin/` and of its variables: `scout`, `SCOUT_CONFIG`. */
  name: string;
  /** What it is, after the name in `--help`. */
  title: string;
  /** The commands of core that it has. Plugins declare the others. */
  commands: readonly string[];
  /** Where the config file and the data are by default, as `--help` states it. */
  defaults: { config: string; data: string };
  /** For a program with options of its own. Without, the config file has the options of core and of the plugins that it names. */
  own?: OwnConfig;
}

export interface OwnConfig {
  /** The config file that is read when none is named. */
  file(env: NodeJS.ProcessEnv): string;
  /** The page that describes the options. */
  docs: string;
  /** An option with a value, for the examples of help. */
  example: { option: string; value: string };
  /** Loads the options apart: `--help` does not need them. */
  load(): Promise<OwnOptions>;
}

export interface OwnOptions {
  options(env: NodeJS.ProcessEnv): ConfigFragment;
  /** The options that `init` asks for. */
  questions?: { path: string; text: string }[];
  /** Returns the configuration of the kit, with the plugins that run, that these values mean. */
  kit(values: never): object;
}

const CIVIC: Program = {
  name: 'civic',
  title: 'a directory of civic actors in which every statement has a public source',
  commands: ['serve', 'init', 'migrate', 'doctor', 'config show', 'config check', 'config help', 'plugin list', 'plugin new', 'plugin check', 'contracts write', 'contracts check', 'backup', 'restore'],
  defaults: { config: 'config/civic.yaml', data: './data' },
};

let current = CIVIC;

/** Makes this process run a program. Its command line does so once, before anything else. */
export function runAs(program: Program = CIVIC): void {
  current = program;
}

/** The program that this process runs. */
export function program(): Program {
  return current;
}

/** Returns how a command is called: `bin/civic doctor`. */
export function call(command: string): string {
  return `bin/${current.name} ${command}`;
}

/** Returns how those of the commands are called that the program has: `bin/civic serve or bin/civic migrate`. */
export function callAny(...commands: string[]): string {
  return commands.filter((command) => current.commands.includes(command)).map(call).join(' or ');
}

/** Returns the page about options: a section of docs/configuration.md, or the page of the program. */
export function optionsPage(section: string): string {
  return current.own?.docs ?? `docs/configuration.md#${section}`;
}

/** What the names of variables begin with that set options: `CIVIC_`. */
export function variablePrefix(): string {
  return `${current.name.toUpperCase()}_`;
}

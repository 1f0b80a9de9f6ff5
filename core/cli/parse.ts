import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../config/nearest.ts';
import { program } from '../program.ts';
import { Misuse, type CommandCall, type CommandDescription, type CommandOption } from './command.ts';

/** Options every command takes. */
export function commonOptions(): CommandOption[] {
  const { config, data } = program().defaults;
  return [
    { name: 'config', value: 'file', summary: `The config file (default: ${config})` },
    { name: 'data', value: 'folder', summary: `The data folder (default: ${data})` },
    { name: 'json', summary: 'Print data as JSON' },
    { name: 'help', summary: 'Show this help' },
  ];
}

export type ParsedOptions = CommandCall['options'];

/** Returns the commands that the program of this process has. */
export function ofProgram<C extends { program?: string }>(commands: C[]): C[] {
  return commands.filter((command) => (command.program ?? 'civic') === program().name);
}

/** The command whose words the arguments start with, the longest first, and what follows. */
export function findCommand<C extends { name: string }>(commands: C[], argv: string[]): { command: C; rest: string[] } | null {
  const longestFirst = [...commands].sort((a, b) => b.name.length - a.name.length);
  for (const command of longestFirst) {
    const words = command.name.split(' ');
    if (words.every((word, i) => argv[i] === word)) return { command, rest: argv.slice(words.length) };
  }
  return null;
}

/** Returns the value of an option that is needed before it is known which command's options the others are. */
export function earlyOption(argv: string[], name: string): string | undefined {
  const at = argv.indexOf(`--${name}`);
  return at >= 0 ? argv[at + 1] : argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
}

export function parseCall(command: CommandDescription, rest: string[]): { options: ParsedOptions; positionals: string[] } {
  const options = [...(command.options ?? []), ...commonOptions()];
  const parsed = strictly(options, rest);
  if (parsed.values.help) return { options: parsed.values, positionals: [] };
  for (const option of options) {
    if (option.required && parsed.values[option.name] === undefined) throw new Misuse(`--${option.name} is missing: ${option.summary}`);
  }
  checkPositionals(command, parsed.positionals);
  return { options: parsed.values, positionals: parsed.positionals };
}

function strictly(options: CommandOption[], args: string[]): { values: ParsedOptions; positionals: string[] } {
  const known: ParseArgsConfig['options'] = {};
  for (const option of options) {
    known[option.name] = { type: option.value ? 'string' : 'boolean', multiple: option.multiple ?? false, ...(option.name === 'help' ? { short: 'h' } : {}) };
  }
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true, strict: true });
    return { values: values as ParsedOptions, positionals };
  } catch (error) {
    throw new Misuse(parseFault(error as NodeJS.ErrnoException, options));
  }
}

function parseFault(error: NodeJS.ErrnoException, options: CommandOption[]): string {
  const given = /'(-[^'\s]*)/.exec(error.message)?.[1] ?? '';
  const option = options.find(({ name }) => given.replace(/^-\w, /, '') === `--${name}` || error.message.includes(`--${name} <value>'`) || error.message.includes(`--${name}'`));
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const best = nearest(given.replace(/^-+/, ''), options.map(({ name }) => name));
    return `There is no option ${given}${best ? `: did you mean --${best}?` : ''}`;
  }
  if (!option) return error.message.split('\n')[0]!;
  return option.value ? `--${option.name} needs a value: --${option.name} <${option.value}>` : `--${option.name} takes no value`;
}

function checkPositionals(command: CommandDescription, given: string[]): void {
  const wanted = command.arguments?.split(' ') ?? [];
  const required = wanted.filter((word) => word.startsWith('<'));
  if (given.length < required.length) throw new Misuse(`The argument ${required[given.length]} is missing`);
  const isOpenEnded = wanted.at(-1)?.includes('…');
  if (given.length > wanted.length && !isOpenEnded) throw new Misuse(`Unexpected argument "${given[wanted.length]}"`);
}

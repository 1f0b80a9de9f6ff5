import { Misuse, type CommandDescription, type CommandOption, type Terminal } from './command.ts';
import { COMMON_OPTIONS } from './parse.ts';
import { table } from './terminal.ts';

/** All commands, a line each. */
export function overview(commands: CommandDescription[], terminal: Terminal): string {
  const rows = commands.map((command) => [`  ${command.name}`, command.summary]);
  return [
    `${terminal.style('bold', 'civic')}: a directory of civic actors in which every statement has a public source`,
    '',
    'Usage: bin/civic <command> [options]',
    '',
    table(rows),
    '',
    'bin/civic <command> --help describes one command, bin/civic --version prints the version.',
  ].join('\n');
}

/** The commands that begin with the same word. */
export function groupHelp(commands: CommandDescription[]): string {
  return `${table(commands.map((command) => [`bin/civic ${command.name}`, command.summary]))}\n\nbin/civic <command> --help describes one command.`;
}

export function commandHelp(command: CommandDescription, terminal: Terminal): string {
  const usage = ['bin/civic', command.name, command.arguments, '[options]'].filter(Boolean).join(' ');
  const options = [...(command.options ?? []), ...COMMON_OPTIONS].map((option) => [`  ${optionWords(option)}`, option.summary]);
  const examples = command.examples?.map((example) => `  ${example}`) ?? [];
  return [
    command.summary,
    '',
    `Usage: ${usage}`,
    '',
    terminal.style('bold', 'Options'),
    table(options),
    ...(examples.length ? ['', terminal.style('bold', 'Examples'), ...examples] : []),
  ].join('\n');
}

function optionWords(option: CommandOption): string {
  return `--${option.name}${option.value ? ` <${option.value}>` : ''}${option.multiple ? ' …' : ''}`;
}

/** Adds to a usage error where the usage is described. */
export async function pointingToHelp<T>(command: CommandDescription, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Misuse) error.message += `\nbin/civic ${command.name} --help shows its usage.`;
    throw error;
  }
}

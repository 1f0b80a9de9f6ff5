import { Misuse, type CommandDescription, type CommandOption, type Terminal } from './command.ts';
import { call, program } from '../program.ts';
import { commonOptions } from './parse.ts';
import { table } from './terminal.ts';

/** All commands, a line each. */
export function overview(commands: CommandDescription[], terminal: Terminal): string {
  const rows = commands.map((command) => [`  ${command.name}`, command.summary]);
  return [
    `${terminal.style('bold', program().name)}: ${program().title}`,
    '',
    `Usage: ${call('<command>')} [options]`,
    '',
    table(rows),
    '',
    `${call('<command>')} --help describes one command, ${call('--version')} prints the version.`,
  ].join('\n');
}

/** The commands that begin with the same word. */
export function groupHelp(commands: CommandDescription[]): string {
  return `${table(commands.map((command) => [call(command.name), command.summary]))}\n\n${call('<command>')} --help describes one command.`;
}

export function commandHelp(command: CommandDescription, terminal: Terminal): string {
  const usage = [call(command.name), command.arguments, '[options]'].filter(Boolean).join(' ');
  const options = [...(command.options ?? []), ...commonOptions()].map((option) => [`  ${optionWords(option)}`, option.summary]);
  const examples = examplesOf(command).map((example) => `  ${example}`);
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

/** Examples of core's commands are those of civic. */
function examplesOf({ examples = [] }: CommandDescription): string[] {
  return program().own ? examples.filter((example) => !example.includes('CIVIC_')).map((example) => example.replace('bin/civic ', call(''))) : examples;
}

function optionWords(option: CommandOption): string {
  return `--${option.name}${option.value ? ` <${option.value}>` : ''}${option.multiple ? ' …' : ''}`;
}

/** Adds to a usage error where the usage is described. */
export async function pointingToHelp<T>(command: CommandDescription, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Misuse) error.message += `\n${call(command.name)} --help shows its usage.`;
    throw error;
  }
}

import { createInterface } from 'node:readline';
import type { OwnedCommand } from '../civic.ts';
import { nearest } from '../config/nearest.ts';
import { checkDatabaseExists, isPostgres } from '../boot.ts';
import type { Composition } from '../compose.ts';
import { bundledPlugins } from '../load.ts';
import { prepare, type Settings } from '../prepare.ts';
import { call, program } from '../program.ts';
import { Failure, Misuse, type Command, type CommandCall, type CommandDescription, type Terminal } from './command.ts';
import { withDialog } from './dialog.ts';
import { commandHelp, groupHelp, pointingToHelp } from './help.ts';
import { loadOwnCommands } from './own.ts';
import { earlyOption, findCommand, ofProgram, parseCall } from './parse.ts';
import { runInServer } from './remote.ts';
import { switchOn } from './switch-on.ts';
import { compositionOf, preparedOrFail, restoreCommand, settingsOf, withDatabase, withDemo } from './settings.ts';
import { processOutlet } from './terminal.ts';

/** The commands of core, and those of the composition unless the config is broken, so that help still works. */
export async function allCommands(settings: Settings): Promise<Command[]> {
  const prepared = await prepare(settings);
  const composed = prepared.errors.length > 0 ? [] : ofProgram((await compositionOf(prepared)).commands);
  // What a program is for comes first.
  return program().own ? [...composed, ...await loadOwnCommands()] : [...await loadOwnCommands(), ...composed];
}

/** Runs a command of the composition. Returns an exit code when the command ran inside the server. */
export async function runComposed(argv: string[], terminal: Terminal): Promise<number | void> {
  const settings = settingsOf(globalOptions(argv));
  // So that `demo remove` works with the config that `serve --demo` ran with.
  const composition = await compositionOf(await preparedOrFail(argv[0] === 'demo' ? withDemo(settings) : settings, terminal));
  const commands = ofProgram(composition.commands);
  const found = findCommand(commands, argv);
  if (!found) return explainUnknown(argv, [...await loadOwnCommands(), ...commands], terminal);
  const { command, rest } = found;
  return pointingToHelp(command, async () => {
    const parsed = parseCall(command, rest);
    if (parsed.options.help) return terminal.out(commandHelp(command, terminal));
    const input = command.reads ? standardInput(terminal.signal) : undefined;
    return withDialog(parsed.options, terminal, (dialog) => runWhereItBelongs(command, { terminal, dialog, cwd: process.cwd(), input, ...parsed }, composition));
  });
}

/** Opens standard input at the first read: readline drops lines that arrive before the iteration. Ends with the signal, so that the process can. */
async function* standardInput(signal: AbortSignal): AsyncGenerator<string> {
  yield* createInterface({ input: process.stdin, signal });
}

function globalOptions(argv: string[]): CommandCall['options'] {
  return { config: earlyOption(argv, 'config'), data: earlyOption(argv, 'data') };
}

async function runWhereItBelongs(command: OwnedCommand, call: CommandCall, composition: Composition): Promise<number | void> {
  if (command.needs === 'nothing') return command.run(call);
  const writes = command.writes ?? false;
  const exit = writes && !isPostgres(composition.config) ? await exitInServer(command, call, composition) : null;
  if (exit !== null) return exit;
  if (command.existing) checkDatabaseExists(composition.config);
  await withDatabase(composition, { writes, schema: writes ? 'migrate' : 'require', restoreCommand: restoreCommand(call.options), onProgress: call.terminal.progress }, async () => {
    if (command.needs === 'server') await composition.start();
    await command.run(call);
  });
}

function exitInServer(command: Command, call: CommandCall, composition: Composition): Promise<number | null> {
  const outlet = processOutlet();
  const { positionals, options, cwd } = call;
  const request = { name: command.name, positionals, options, cwd, isTerminal: outlet.isTerminal, color: outlet.color };
  return runInServer(composition.config.data_dir, request, { outlet, input: call.input, signal: call.terminal.signal });
}

/** Explains words that are no command: a group of commands, a command of a plugin that is off, or a misspelling. */
export async function explainUnknown(argv: string[], known: CommandDescription[], terminal: Terminal): Promise<void> {
  const firstOption = argv.findIndex((word) => word.startsWith('-'));
  const words = firstOption < 0 ? argv : argv.slice(0, firstOption);
  if (words.length === 0) throw new Misuse(optionsFirst(argv, known));
  // A program with options of its own always runs the same plugins.
  const owner = program().own ? undefined : (await commandsOfAllPlugins()).find((command) => findCommand([command], argv));
  if (owner) throw new Failure(await pluginIsOff(owner, globalOptions(argv)));
  const group = known.filter((command) => command.name.startsWith(`${words.join(' ')} `));
  if (group.length > 0 && (argv.includes('--help') || argv.includes('-h'))) return terminal.out(groupHelp(group));
  if (group.length > 0) throw new Misuse(`"${words.join(' ')}" needs another word:\n${group.map((command) => `  ${call(command.name)}`).join('\n')}`);
  const best = nearest(words.join(' '), known.map((command) => command.name)) ?? nearest(words[0]!, known.map((command) => command.name.split(' ')[0]!));
  throw new Misuse(`There is no command "${words.join(' ')}"${best ? `: did you mean "${best}"?` : ''}\n${call('--help')} lists all commands.`);
}

function optionsFirst(argv: string[], known: CommandDescription[]): string {
  const line = argv.join(' ');
  const named = known.find(({ name }) => ` ${line} `.includes(` ${name} `));
  if (!named) return `The command is missing: ${call('<command>')} ${line}\n${call('--help')} lists all commands.`;
  return `Options come after the command: ${call(named.name)} ${line.replace(named.name, '').replace(/ {2,}/g, ' ').trim()}`;
}

async function pluginIsOff({ name, plugin }: OwnedCommand, options: CommandCall['options']): Promise<string> {
  const { instruction, lines } = switchOn(plugin, null, (await prepare(settingsOf(options))).document);
  return [`"${name}" is a command of the plugin ${plugin}, which is off. To switch it on:`, '', instruction, '', ...lines].join('\n');
}

async function commandsOfAllPlugins(): Promise<OwnedCommand[]> {
  return (await commandsOf(bundledPlugins())) ?? [];
}

/** The commands of core and of these plugins with their default options; null when the plugins cannot be composed. */
export async function commandsOf(names: string[]): Promise<OwnedCommand[] | null> {
  const prepared = await prepare({ env: {}, args: {}, text: JSON.stringify({ plugins: Object.fromEntries(names.map((name) => [name, {}])) }) });
  if (prepared.errors.length > 0) return null;
  return ofProgram((await compositionOf(prepared)).commands);
}

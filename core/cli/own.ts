import { program } from '../program.ts';
import type { Command } from './command.ts';

/** A command of core. Its module is loaded when the command runs. */
export interface OwnCommand {
  name: string;
  load(): Promise<Command>;
}

/** The commands that work with a broken config, or check it themselves. A program has some of them. All others come from the composition. */
export const OWN_COMMANDS: OwnCommand[] = [
  { name: 'serve', load: async () => (await import('./serve.ts')).serve },
  { name: 'init', load: async () => (program().own ? (await import('./init-own.ts')).initOwn : (await import('./init.ts')).init) },
  { name: 'migrate', load: async () => (await import('./migrate.ts')).migrateCommand },
  { name: 'doctor', load: async () => (await import('./doctor.ts')).doctor },
  { name: 'config show', load: async () => (await import('./config.ts')).configShow },
  { name: 'config check', load: async () => (await import('./config.ts')).configCheck },
  { name: 'config help', load: async () => (await import('./config.ts')).configHelp },
  { name: 'config get', load: async () => (await import('./config-edit.ts')).configGet },
  { name: 'config set', load: async () => (await import('./config-edit.ts')).configSet },
  { name: 'config path', load: async () => (await import('./config-edit.ts')).configPath },
  { name: 'plugin list', load: async () => (await import('./plugin.ts')).pluginList },
  { name: 'plugin new', load: async () => (await import('./plugin.ts')).pluginNew },
  { name: 'plugin check', load: async () => (await import('./plugin.ts')).pluginCheck },
  { name: 'contracts write', load: async () => (await import('./contracts.ts')).contractsWrite },
  { name: 'contracts check', load: async () => (await import('./contracts.ts')).contractsCheck },
  { name: 'backup', load: async () => (await import('./backup.ts')).backup },
  { name: 'restore', load: async () => (await import('./restore.ts')).restore },
];

/** Returns the commands of core that the program has. */
export function ownCommands(): OwnCommand[] {
  return OWN_COMMANDS.filter(({ name }) => program().commands.includes(name));
}

export async function loadOwnCommands(commands = ownCommands()): Promise<Command[]> {
  return Promise.all(commands.map(({ load }) => load()));
}

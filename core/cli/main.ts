import { runAs, type Program } from '../program.ts';
import { version } from '../root.ts';
import type { Terminal } from './command.ts';
import { exitCodeOf } from './exit.ts';
import { createTerminal, processOutlet } from './terminal.ts';

/** Runs a program in `bin/`, by default civic, and returns its exit code. */
export async function main(argv: string[], program?: Program): Promise<number> {
  runAs(program);
  const interrupted = new AbortController();
  // The first Ctrl-C lets the work end cleanly; Node's own handling of the second ends the process.
  process.once('SIGINT', () => { interrupted.abort(); });
  process.once('SIGTERM', () => { interrupted.abort(); });
  // As `bin/civic export | head` does: whoever read has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupted.abort();
  });
  const terminal = createTerminal(processOutlet(), { json: argv.includes('--json'), signal: interrupted.signal });
  // Tests run several programs in one process.
  return exitCodeOf(() => dispatch(argv, terminal), terminal).finally(() => { runAs(); });
}

/** Runs the command that the arguments name. Each branch loads only what it runs. */
export async function dispatch(argv: string[], terminal: Terminal): Promise<number | void> {
  const [first] = argv;
  if (first === '--version' || first === '-v' || first === 'version') return terminal.print({ version }, () => version);
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') return (await import('./show-help.ts')).showHelp(argv.slice(1), terminal);
  if ((argv.includes('--help') || argv.includes('-h')) && await (await import('./show-help.ts')).showCommandHelp(argv, terminal)) return;
  return (await import('./run.ts')).runCommand(argv, terminal);
}

import { Misuse, type Terminal } from './command.ts';

/** Runs a command's work and turns what it throws into words and an exit code: 0 done, 1 failed, 2 wrong usage. */
export async function exitCodeOf(work: () => Promise<number | void>, terminal: Terminal): Promise<number> {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    if (error instanceof Misuse) {
      terminal.err(error.message);
      return 2;
    }
    // Loaded when it is needed: --version and --help need neither HTTP nor the database.
    const { failureText } = await import('./failure.ts');
    terminal.err(failureText(error, terminal));
    return 1;
  }
}

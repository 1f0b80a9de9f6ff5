import { Failure, Misuse, type Terminal } from './command.ts';

/** Runs a command's work and turns what it throws into words and an exit code: 0 done, 1 failed, 2 wrong usage. */
export async function exitCodeOf(work: () => Promise<number | void>, terminal: Terminal): Promise<number> {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    if (error instanceof Misuse) {
      terminal.err(error.message);
      return 2;
    }
    terminal.err(failureWords(error, terminal));
    return 1;
  }
}

/** A failure is meant for the person at the keyboard; anything else is a fault of ours and keeps its stack. */
function failureWords(error: unknown, terminal: Terminal): string {
  if (error instanceof Failure) return terminal.style('red', error.message);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

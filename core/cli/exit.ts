import { lazily } from '../lazy.ts';
import { Misuse, type Terminal } from './command.ts';

/** Not loaded at once: --version and --help need neither HTTP nor the database. */
const loadFailure = lazily(() => import('./failure.ts'));

/** Runs a command's work and turns what it throws into words and an exit code: 0 done, 1 failed, 2 wrong usage. */
export async function exitCodeOf(work: () => Promise<number | void>, terminal: Terminal): Promise<number> {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    if (error instanceof Misuse) {
      terminal.err(error.message);
      return 2;
    }
    const { failureText } = await loadFailure();
    terminal.err(failureText(error, terminal));
    return 1;
  }
}

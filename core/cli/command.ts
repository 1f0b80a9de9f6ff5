import type { Dialog } from './question.ts';
import type { Style } from './style.ts';

/** The output of a command. A command may run inside the server and send its output through a socket, so it never uses `process.stdout`. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Prints a value: as JSON with `--json`, else by `words`. */
  print(value: unknown, words: () => string): void;
  /** A bar on a terminal, a line now and then elsewhere, nothing with `--json`. */
  progress(label: string, done: number, total: number): void;
  style(style: Style, text: string): string;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

export interface CommandOption {
  name: string;
  /** Shown in `--help`. */
  summary: string;
  /** Absent for a switch. */
  value?: string;
  multiple?: boolean;
  required?: boolean;
}

/** What help shows of a command. */
export interface CommandDescription {
  /** Its words: `account create`. */
  name: string;
  summary: string;
  /** Positional arguments as shown in help: `<format> <file>`, `[path]`. */
  arguments?: string;
  options?: CommandOption[];
  examples?: string[];
}

export interface Command extends CommandDescription {
  /** The program in `bin/` that has it; default is civic. */
  program?: string;
  /** `nothing`; `database`: open and migrated, plugins not started; `server`: everything started, not listening. */
  needs: 'nothing' | 'database' | 'server';
  /** It changes data: on SQLite it runs inside the server when one is up. */
  writes?: boolean;
  /** It works on existing data only: without a database it fails instead of creating one. */
  existing?: boolean;
  /** It reads standard input, whose lines are `input` of the call, also when the command runs inside the server. */
  reads?: boolean;
  /** Exit code 0 on success; throw a `Failure` for 1. */
  run(call: CommandCall): Promise<void>;
}

export interface CommandCall {
  terminal: Terminal;
  positionals: string[];
  options: Record<string, string | boolean | string[] | undefined>;
  /** The lines of standard input, for a command with `reads`. */
  input?: AsyncIterable<string>;
  /** Questions to the person at the terminal; absent inside the server. */
  dialog?: Dialog;
  /** The working directory of the process that called the command: resolve paths against it, also inside the server. */
  cwd: string;
}

/** A command failed: prints the message, exit code 1. */
export class Failure extends Error {}

/** A command was called with wrong arguments: prints the message and a reference to `--help`, exit code 2. */
export class Misuse extends Error {}

/** Quotes a word for a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

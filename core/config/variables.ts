import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What an environment variable gives: its text, or why it cannot be had. */
export interface Variable {
  /** The variable that was set: `NAME` or `NAME_FILE`. */
  name: string;
  text: string;
  problem?: string;
  hint?: string;
}

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return REASONS[code] ?? `cannot be read (${code})`;
}

/** A variable, given as `NAME` or as `NAME_FILE`, which names a file that holds it. An empty one counts as not set. */
export function variable(name: string, env: NodeJS.ProcessEnv, folder: string): Variable | undefined {
  const file = env[`${name}_FILE`];
  if (!file) return env[name] ? { name, text: env[name] } : undefined;
  const failed = (problem: string, hint?: string) => ({ name: `${name}_FILE`, text: '', problem: `${name}_FILE ${problem}`, hint });
  if (env[name]) return failed(`and ${name} are both set`, 'keep one of the two');
  try {
    const text = readFileSync(resolve(folder, file), 'utf8').replace(/\r?\n$/, '');
    return text ? { name: `${name}_FILE`, text } : failed(`names the file ${file}, which is empty`);
  } catch (error) {
    return failed(`names the file ${file}, which ${reasonOf(error)}`);
  }
}

export interface Filled {
  text: string;
  problems: { message: string; hint: string }[];
  /** Whether anything came from the environment. */
  filled: boolean;
  /** Whether the text is nothing but one `${NAME}`, and so is read as a variable is. */
  whole: boolean;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Fills each `${NAME}` of a text from the environment; `$${` stands for a plain `${`. */
export function fill(text: string, env: NodeJS.ProcessEnv, folder: string): Filled {
  const result: Filled = { text, problems: [], filled: false, whole: /^\$\{[^}]*\}$/.test(text) };
  result.text = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (match, name: string | undefined, end: string) => {
    if (name === undefined) return '${';
    result.filled = true;
    if (!end || !NAME.test(name)) {
      const hint = 'write ${NAME} with the name of an environment variable, or $${ for the two characters themselves';
      result.problems.push({ message: 'has "${" that does not begin a ${NAME}', hint });
      return match;
    }
    const found = variable(name, env, folder);
    if (!found) {
      const hint = `set ${name}, or ${name}_FILE to a file that holds it`;
      result.problems.push({ message: `is filled from the environment variable ${name}, which is not set`, hint });
    }
    if (found?.problem) result.problems.push({ message: `cannot be filled: ${found.problem}`, hint: found.hint ?? `mend ${found.name}` });
    return found?.text ?? '';
  });
  return result;
}

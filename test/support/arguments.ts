import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Parses the arguments of a command for developers. Prints the usage and exits with 2 when an option is unknown or lacks its value. */
export function parseArguments<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('ERR_PARSE_ARGS_')) throw error;
    return exitWithUsage(`${message}\n\n${usage}`);
  }
}

/** Prints to standard error and exits with 2. */
export function exitWithUsage(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}

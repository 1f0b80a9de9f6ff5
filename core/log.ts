import pino from 'pino';
import type { CoreConfig } from './config/types.ts';

export type Logger = pino.Logger;

const SECRETS = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'ticket', 'api_key', '*.authorization', '*.cookie', '*.password', '*.secret', '*.token', '*.ticket', '*.api_key', 'headers["x-api-key"]'];

type Output = NodeJS.WritableStream & { isTTY?: boolean; fd?: number };

/** The one logger: JSON lines, or coloured text on a terminal. Secrets are masked wherever they are passed. */
export async function createLogger(config: CoreConfig['log'], output: Output = process.stdout): Promise<Logger> {
  const options: pino.LoggerOptions = {
    level: config.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRETS, censor: '[masked]' },
    formatters: { level: (label) => ({ level: label }) },
  };
  const isPretty = config.format === 'pretty' || (config.format === 'auto' && output.isTTY);
  if (!isPretty) return pino(options, output === process.stdout ? gatheredOutput() : (output as pino.DestinationStream));
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ destination: output, colorize: Boolean(output.isTTY), singleLine: true, ignore: SHOWN.join(), messageFormat: (line) => readable(line), translateTime: 'SYS:HH:MM:ss' }));
}

/** Members that a readable line shows in its text, or not at all. */
const SHOWN = ['plugin', 'method', 'path', 'status', 'ms', 'request_id', 'account_id', 'bytes'];

function readable({ plugin, msg, method, path, status, ms, request_id }: Record<string, unknown>): string {
  if (method === undefined) return `${plugin === undefined ? '' : `${plugin as string}: `}${msg as string}`;
  const request = `${method as string} ${path as string}`;
  return status === undefined ? `${msg as string}: ${request} (request ${request_id as string})` : `${request} ${status as number} ${ms as number} ms`;
}

/** The log of a command: a person reads it beside the output, so warnings and errors are plain sentences. */
export function createCommandLogger(output: NodeJS.WritableStream = process.stderr, level: 'warn' | 'error' = 'warn'): Logger {
  const write = (line: string): void => {
    const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
    output.write(`${msg}${err ? `: ${err.message}` : ''}\n`);
  };
  return pino({ level, base: null, redact: { paths: SECRETS, censor: '[masked]' } }, { write });
}

const FLUSH_MS = 250;

let gathered: pino.DestinationStream | undefined;

/** Standard output, a few kilobytes at a time: a line a request costs half as much. What is left goes out when the process ends. */
function gatheredOutput(): pino.DestinationStream {
  if (gathered) return gathered;
  const destination = pino.destination({ fd: process.stdout.fd, sync: false, minLength: 4096 });
  setInterval(() => { destination.flush(); }, FLUSH_MS).unref();
  process.on('uncaughtExceptionMonitor', () => { destination.flushSync(); });
  gathered = destination;
  return destination;
}

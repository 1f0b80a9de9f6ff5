import pino from 'pino';
import type { CoreConfig } from './config/types.ts';

export type Logger = pino.Logger;

const SECRETS = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'ticket', 'api_key', '*.authorization', '*.cookie', '*.password', '*.secret', '*.token', '*.ticket', '*.api_key', 'headers["x-api-key"]'];

/** The one logger: JSON lines, or coloured text on a terminal. Secrets are masked wherever they are passed. */
export async function createLogger(config: CoreConfig['log'], stream: NodeJS.WritableStream & { isTTY?: boolean } = process.stdout): Promise<Logger> {
  const options: pino.LoggerOptions = {
    level: config.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRETS, censor: '[masked]' },
    formatters: { level: (label) => ({ level: label }) },
  };
  const isPretty = config.format === 'pretty' || (config.format === 'auto' && stream.isTTY);
  if (!isPretty) return pino(options, stream as pino.DestinationStream);
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ destination: stream, colorize: Boolean(stream.isTTY), ignore: 'plugin', messageFormat: '{if plugin}{plugin}: {end}{msg}', translateTime: 'SYS:HH:MM:ss' }));
}

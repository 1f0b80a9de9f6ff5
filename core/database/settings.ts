import type { Knex } from 'knex';
import type { Logger } from '../log.ts';
import type { Strictness } from './strict.ts';

/** What both ways of opening are given. */
export interface OpenSettings {
  log: Logger;
  strictness: Strictness;
}

/** Knex prints to the console otherwise. What it says also reaches whoever made the query. */
export function knexLog(log: Logger): Knex.Logger {
  const debug = (message: unknown) => log.debug({ knex: String(message) }, 'Knex says');
  return { warn: debug, error: debug, deprecate: debug, debug };
}

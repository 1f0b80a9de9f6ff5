import type { Civic } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { Research } from 'civic/discovery';
import type { ScoutConfig } from './config.ts';

/** The services that all commands use. */
export interface Scout {
  civic: Civic<ScoutConfig>;
  directory: DirectoryService;
  research: Research;
}

export const PROGRAM = 'scout';

import { isBuiltin } from 'node:module';
import { Failure } from '../../cli/command.ts';
import type { SqliteDriver } from './driver.ts';

/** The values of `database.driver`. */
export type DriverChoice = 'auto' | 'sqlite3' | 'node';

export interface ChosenDriver {
  driver: SqliteDriver;
  /** Why `auto` selected the driver of Node; null otherwise. */
  fallback: string | null;
}

/** A driver that cannot be loaded. `doctor` and `config check` show detail and fix apart. */
export class DriverFailure extends Failure {
  readonly detail: string;
  readonly fix: string;

  constructor(detail: string, fix: string, options?: ErrorOptions) {
    super(`${detail}: ${fix}`, options);
    this.detail = detail;
    this.fix = fix;
  }
}

const NEWER_NODE = 'use Node 22.16 or newer of 22, or Node 24 or newer';

/** Loads the configured driver. `auto` loads sqlite3, or the driver of Node when sqlite3 cannot be loaded. */
export async function chooseDriver(choice: DriverChoice): Promise<ChosenDriver> {
  if (choice === 'node') {
    if (!hasNodeSqlite()) throw new DriverFailure(`database.driver is node, but Node ${process.versions.node} has no SQLite of its own with full-text search`, `${NEWER_NODE}, or set database.driver to auto`);
    return { driver: await loadNode(), fallback: null };
  }
  try {
    const { sqlite3Driver } = await import('./sqlite3.ts');
    return { driver: sqlite3Driver, fallback: null };
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]!;
    if (choice === 'sqlite3') throw new DriverFailure(`The SQLite driver sqlite3 cannot be loaded (${reason})`, 'run npm rebuild sqlite3, or set database.driver to auto', { cause: error });
    if (!hasNodeSqlite()) throw new DriverFailure(`The SQLite driver sqlite3 cannot be loaded (${reason}), and Node ${process.versions.node} has no SQLite of its own with full-text search`, `run npm rebuild sqlite3, or ${NEWER_NODE}`, { cause: error });
    return { driver: await loadNode(), fallback: `sqlite3 cannot be loaded: ${reason}` };
  }
}

async function loadNode(): Promise<SqliteDriver> {
  const { nodeDriver } = await import('./node.ts');
  return nodeDriver;
}

/** Whether this Node has `node:sqlite` with full-text search and `setReturnArrays`. */
export function hasNodeSqlite(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return isBuiltin('node:sqlite') && (major >= 24 || (major === 22 && minor >= 16));
}

import type { Knex } from 'knex';
// @ts-expect-error Knex has no types for its dialects.
import dialect from 'knex/lib/dialects/sqlite3/index.js';
import { cleanError, driverError } from '../errors.ts';
import type { Strictness } from '../strict.ts';
import type { RunResult, SqliteConnection } from './driver.ts';

/** A query that Knex compiled. Its `processResponse` reads `response` and `context`. */
interface Query {
  sql: string;
  bindings?: unknown[];
  method?: string;
  returning?: unknown;
  response?: unknown;
  context?: RunResult;
}

/** Settings of the two clients in addition to the options of Knex. */
export interface ClientSettings {
  open(): Promise<SqliteConnection>;
  strictness: Strictness;
}

/** The members that Knex names for dialects to override. */
interface Dialect {
  config: Knex.Config & ClientSettings;
  acquireConnection(): Promise<unknown>;
  query(connection: unknown, query: unknown): Promise<unknown>;
}
const KnexSqlite = dialect as new (config: Knex.Config) => Dialect;

/** Methods that change rows and return none; Knex reads their counts. */
const CHANGES = new Set(['insert', 'update', 'counter', 'del']);

/** The SQLite dialect of Knex on a `SqliteDriver`. */
export class SqliteClient extends KnexSqlite {
  /** Overridden because Knex loads the package sqlite3 here. */
  _driver(): unknown {
    return null;
  }

  async acquireRawConnection(): Promise<SqliteConnection> {
    return await this.config.open();
  }

  async destroyRawConnection(connection: SqliteConnection): Promise<void> {
    await connection.close();
  }

  /** The pool replaces a connection that is not valid. */
  validateConnection({ isLost }: SqliteConnection): boolean {
    return !isLost;
  }

  async _query(connection: SqliteConnection, query: Query): Promise<Query> {
    const isChange = CHANGES.has(query.method ?? '') && !query.returning;
    if (isChange) query.context = await connection.run(query.sql, query.bindings);
    else query.response = await connection.all(query.sql, query.bindings);
    return query;
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      throw cleanError(error);
    }
  }
}

/** The client of `db.read`: rejects use inside a write, and cannot change data. */
export class ReaderClient extends SqliteClient {
  override async acquireConnection(): Promise<unknown> {
    this.config.strictness.check('db.read');
    try {
      return await super.acquireConnection();
    } catch (error) {
      throw cleanError(error);
    }
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      if (driverError(error).code === 'SQLITE_READONLY') throw new Error('db.read only reads: use db.write to change data', { cause: error });
      throw error;
    }
  }
}

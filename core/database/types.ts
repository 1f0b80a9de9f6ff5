import type { Knex } from 'knex';

export type Dialect = 'sqlite' | 'postgres';

/** A transaction: the only thing used inside `db.write` and `db.snapshot`. */
export type Tx = Knex.Transaction;

/** A transaction or the readers: what a function that only reads may take. */
export type Reader = Knex;

/**
 * The kinds of column, the same on both databases:
 *
 * | kind     | SQLite                  | Postgres                 | in a row (both)              |
 * |----------|-------------------------|--------------------------|------------------------------|
 * | `id`     | integer primary key     | bigint identity          | number, internal, never shown|
 * | `uuid`   | text                    | uuid                     | lower-case text              |
 * | `text`   | text                    | text collate "C"         | string                       |
 * | `int`    | integer                 | integer                  | number                       |
 * | `bigint` | integer                 | bigint                   | number                       |
 * | `real`   | real                    | double precision         | number                       |
 * | `bool`   | integer                 | boolean                  | 0 or 1 (write true or false) |
 * | `time`   | text                    | timestamptz(3)           | RFC 3339, milliseconds, `Z`  |
 * | `json`   | text                    | jsonb                    | JSON text                    |
 * | `blob`   | blob                    | bytea                    | Buffer                       |
 *
 * A `?` behind the kind allows null: `'text?'`.
 */
export type Kind = 'id' | 'uuid' | 'text' | 'int' | 'bigint' | 'real' | 'bool' | 'time' | 'json' | 'blob';
export type ColumnKind = Kind | `${Kind}?`;
export type Columns = Record<string, ColumnKind>;

export interface TableOptions {
  /** The primary key, when no column is of kind `id`. */
  primary?: string[];
  unique?: string[][];
  index?: string[][];
  /** Foreign keys inside the plugin: `{ actor_key: 'directory_actors.key' }`. They cascade on delete. */
  references?: Record<string, string>;
  /** Derived from other tables or of no use later: not in backups. A read model fills it, or the plugin as it runs. */
  derived?: boolean;
}

/**
 * What a migration is given, and all that it uses: DDL that reads the same on both databases, inside one transaction.
 * Released migrations call these methods for ever, so what a method creates from the same arguments never changes.
 */
export interface Schema {
  readonly dialect: Dialect;
  readonly tx: Tx;
  createTable(table: string, columns: Columns, options?: TableOptions): Promise<void>;
  addColumns(table: string, columns: Columns): Promise<void>;
  addIndex(table: string, columns: string[], options?: { unique?: boolean }): Promise<void>;
  dropIndex(table: string, columns: string[], options?: { unique?: boolean }): Promise<void>;
  dropColumn(table: string, column: string): Promise<void>;
  dropTable(table: string): Promise<void>;
  /** A full-text index over tokens made in TypeScript; always derived. See `search.ts`. */
  createSearchIndex(table: string): Promise<void>;
  /**
   * Creates the tables of a log for `civic.sequence`: `<name>_log`, `<name>_outbox` and `<name>_head`. Frozen, as every method
   * here: released migrations call it, so another layout gets a method of another name.
   */
  createSequenceTables(name: string, columns: Columns): Promise<void>;
  /** For what the two databases do differently; either may be left out. */
  raw(statements: { sqlite?: string; postgres?: string }): Promise<void>;
}

/** A file in a plugin's `migrations/` folder exports `up`. There is no `down`: a backup is the way back. */
export interface Migration {
  up(schema: Schema): Promise<void>;
}

export interface Database {
  readonly dialect: Dialect;
  /** Knex on readers. Throws inside `write` and `snapshot`, where only `tx` may be used (checked in tests). */
  readonly read: Knex;
  /** Several reads of one moment. */
  snapshot<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The only way to write. On SQLite writes are serialised and committed in groups; on Postgres each is
   * a transaction. `fn` may run again after a deadlock, so it touches nothing but `tx`, awaits no network,
   * and ends within a second. The promise resolves after the commit is on disk. `long` is for writes before the server
   * answers requests, such as filling derived tables: they may take longer, without a warning.
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: { long?: boolean }): Promise<T>;
  /**
   * Runs `fn` on a temporary copy of the tables whose names begin with `prefix`, and deletes the copy. Other readers and
   * writers do not wait for it; it takes as much disk as what is copied (on SQLite the whole file).
   */
  scratch<T>(prefix: string, fn: (copy: Database) => Promise<T>): Promise<T>;
}

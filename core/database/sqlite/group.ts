import type { SqliteConnection } from './driver.ts';

// SQLite uses the innermost savepoint of a name, so one name is enough, and its statements stay prepared.
const SAVEPOINT: Record<string, string[]> = {
  'BEGIN;': ['savepoint a_write'],
  'COMMIT;': ['release a_write'],
  ROLLBACK: ['rollback to a_write', 'release a_write'],
};
/** The first write of a group needs no savepoint: the group's transaction is rolled back instead. */
const NOTHING: Record<string, string[]> = { 'BEGIN;': [], 'COMMIT;': [], ROLLBACK: [] };

/**
 * Returns the connection for one write of a group. The transaction that Knex begins and ends around the write becomes a savepoint
 * inside the transaction of the group.
 */
export function connectionOfWrite(connection: SqliteConnection, isFirst: boolean): SqliteConnection {
  const replacements = isFirst ? NOTHING : SAVEPOINT;
  return {
    get isLost() { return connection.isLost; },
    async all(sql, bindings) {
      const statements = replacements[sql];
      if (!statements) return connection.all(sql, bindings);
      for (const statement of statements) await connection.run(statement);
      return [];
    },
    run: (sql, bindings) => connection.run(sql, bindings),
    close: () => Promise.reject(new Error('A write does not close the connection of its group')),
  };
}

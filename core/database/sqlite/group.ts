import type { SqliteConnection } from './driver.ts';

// Of several savepoints of one name SQLite means the innermost. One name keeps their statements prepared.
const SAVEPOINT: Record<string, string[]> = {
  'BEGIN;': ['savepoint a_write'],
  'COMMIT;': ['release a_write'],
  ROLLBACK: ['rollback to a_write', 'release a_write'],
};
/** The first write of a group needs no savepoint: the group's transaction is rolled back instead. */
const NOTHING: Record<string, string[]> = { 'BEGIN;': [], 'COMMIT;': [], ROLLBACK: [] };

/**
 * The connection as one write of a group sees it. Knex begins and ends a transaction around the write; inside the
 * transaction of the group that is a savepoint.
 */
export function connectionOfWrite(connection: SqliteConnection, isFirst: boolean): SqliteConnection {
  const instead = isFirst ? NOTHING : SAVEPOINT;
  return {
    get isLost() { return connection.isLost; },
    async all(sql, bindings) {
      const statements = instead[sql];
      if (!statements) return connection.all(sql, bindings);
      for (const statement of statements) await connection.run(statement);
      return [];
    },
    run: (sql, bindings) => connection.run(sql, bindings),
    close: () => Promise.reject(new Error('A write does not close the connection of its group')),
  };
}

import pg from 'pg';

/**
 * Returns true if PostgreSQL rejected a statement and rolled its transaction back. False if the connection
 * broke or PostgreSQL crashed, because the transaction may have been committed.
 */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

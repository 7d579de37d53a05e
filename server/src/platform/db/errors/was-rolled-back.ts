import pg from 'pg';

/**
 * Whether PostgreSQL refused a statement and rolled its transaction back. False where the connection broke or
 * PostgreSQL crashed: the transaction may have been committed then.
 */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

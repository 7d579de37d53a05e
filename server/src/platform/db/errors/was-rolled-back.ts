import pg from 'pg';

/**
 * Whether PostgreSQL refused a statement and rolled its transaction back. Not so where the connection broke or PostgreSQL crashed: there
 * the commit may have been made.
 */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

import pg from 'pg';

/**
 * Whether a statement was refused, and its transaction with it. Not so where the connection broke or PostgreSQL crashed: there
 * the commit may have been made.
 */
export function hasLeftNothing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

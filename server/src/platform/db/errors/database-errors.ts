import pg from 'pg';

/** Errors of broken database connections. They look like the errors of any other socket. */
const lostConnections = new WeakSet<Error>();

/**
 * SQLSTATE classes: 08 connection exception, 53 insufficient resources (connections, disk, memory), 57P
 * stopping, crashed or starting, 58 system error; 25006 is a standby.
 */
const SQLSTATES = /^(08|53|57P|58)|^25006$/;

/** Messages of the driver's own errors, which have no codes. */
const SENTENCES = /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered)/;

/** Marks an error of a database connection. Must be called before the connection's user sees the error. */
export function markLostConnection(error: Error): void {
  lostConnections.add(error);
}

/** Returns true if an error means that the database is unavailable, rather than that the call was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (SENTENCES.test(error.message)) return true;
  // Checks the mark, because connections to model servers and external services fail with the same errors.
  if (lostConnections.has(error)) return true;
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && SQLSTATES.test(code);
}

/**
 * Returns true if PostgreSQL rejected a statement and rolled its transaction back. Returns false if the
 * connection broke or PostgreSQL crashed: then the transaction may have been committed.
 */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}

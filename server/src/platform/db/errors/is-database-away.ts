/** Errors with which connections to the database broke, or could not be made; they look like any socket's. */
const lostConnections = new WeakSet<Error>();

/** Marks an error of a connection to the database, before the connection's user sees it. */
export function noteLostConnection(error: Error): void {
  lostConnections.add(error);
}

/**
 * PostgreSQL's classes: 08 connection exception, 53 insufficient resources (connections, disk,
 * memory), 57P stopping, crashed or starting, 58 its own machine; 25006 is a standby.
 */
const SQLSTATES = /^(08|53|57P|58)|^25006$/;

/** The driver's own errors have no codes. */
const SENTENCES = /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered)/;

/** Whether an error means that the database is unavailable, rather than that the call was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (SENTENCES.test(error.message)) return true;
  // Model servers and outside services may break their connections too.
  if (lostConnections.has(error)) return true;
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && SQLSTATES.test(code);
}

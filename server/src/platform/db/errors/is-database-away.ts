/** Errors with which connections to the database broke, or could not be made; by themselves they look like any socket's. */
const lostConnections = new WeakSet<Error>();

/** Notes an error of a connection to the database, before whoever uses the connection meets it. */
export function noteLostConnection(error: Error): void {
  lostConnections.add(error);
}

/**
 * PostgreSQL's classes: 08 connection exception, 53 insufficient resources (connections, disk,
 * memory), 57P stopping, crashed or starting, 58 its own machine; 25006 is a standby.
 */
const SQLSTATES = /^(08|53|57P|58)|^25006$/;

/** The driver's own sentences have no codes. */
const SENTENCES = /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered)/;

/** Whether an error says that the database cannot be reached or used for now, rather than that the call was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (SENTENCES.test(error.message)) return true;
  // A model server, or a service outside, may break its connections too.
  if (lostConnections.has(error)) return true;
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && SQLSTATES.test(code);
}

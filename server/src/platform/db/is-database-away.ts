/** Of the network, and of a socket that is not there. */
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
const SYSTEM_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo']);

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
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined) return false;
  return SQLSTATES.test(code) || (NETWORK_CODES.has(code) && (!syscall || SYSTEM_CALLS.has(syscall)));
}

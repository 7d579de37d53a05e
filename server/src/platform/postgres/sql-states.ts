/** PostgreSQL's codes of errors that somebody waits for, by its own names. */
export const sqlStates = {
  deadlockDetected: '40P01',
  duplicateDatabase: '42P04',
  lockNotAvailable: '55P03',
  serializationFailure: '40001',
  uniqueViolation: '23505',
} as const;

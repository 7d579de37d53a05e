/** PostgreSQL error codes that are handled, by PostgreSQL's names. */
export const sqlStates = {
  deadlockDetected: '40P01',
  duplicateDatabase: '42P04',
  lockNotAvailable: '55P03',
  serializationFailure: '40001',
  uniqueViolation: '23505',
} as const;

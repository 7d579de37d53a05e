import { createHash, randomBytes } from 'node:crypto';

/** Returns the secret of one attempt, with which the workload calls the server. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the hash of a token, as stored in the database. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

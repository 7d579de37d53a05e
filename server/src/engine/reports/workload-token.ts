import { createHash, randomBytes } from 'node:crypto';

/** The secret of one attempt: what the workload shows when it calls the server. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What the database keeps of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

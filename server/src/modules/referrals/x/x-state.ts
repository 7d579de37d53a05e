import { createHash, randomBytes } from 'node:crypto';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';

/** How long a user may take on X's page. */
const VALID_SECONDS = 15 * 60;

type Owner = { userId: string; secret: string; now: Date };

/**
 * Returns an OAuth state: a nonce and the time, signed for the user. Nothing needs to be stored, and other
 * users' states are refused.
 */
export function makeXState({ userId, secret, now }: Owner): string {
  const seconds = `${Math.floor(now.getTime() / 1000)}`;
  const nonce = randomBytes(16).toString('base64url');
  return `${seconds}.${nonce}.${signatureOf(secret, 'x state', [userId, seconds, nonce])}`;
}

/** True if this server created the state for this user recently. */
export function isXState(state: string, { userId, secret, now }: Owner): boolean {
  const [seconds = '', nonce = '', signature = ''] = state.split('.');
  if (!isSameSecret(signatureOf(secret, 'x state', [userId, seconds, nonce]), signature)) return false;
  const age = now.getTime() / 1000 - Number(seconds);
  return age < VALID_SECONDS;
}

/** Returns the PKCE verifier, derived from the server's secret, and its challenge. */
export function pkceOf(state: string, secret: string): { verifier: string; challenge: string } {
  const verifier = signatureOf(secret, 'x verifier', [state]);
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

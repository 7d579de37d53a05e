import { createHash, randomBytes } from 'node:crypto';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';

/** How long a person may take on X's page. */
const VALID_SECONDS = 15 * 60;

type Owner = { userId: string; secret: string; now: Date };

/**
 * The OAuth state that goes to X and back: a nonce and the time, signed for the user. Another user's state is refused, and
 * nothing has to be stored meanwhile.
 */
export function makeXState({ userId, secret, now }: Owner): string {
  const seconds = `${Math.floor(now.getTime() / 1000)}`;
  const nonce = randomBytes(16).toString('base64url');
  return `${seconds}.${nonce}.${signatureOf(secret, 'x state', [userId, seconds, nonce])}`;
}

/** Whether this server made it for the user, a short while ago. */
export function isXState(state: string, { userId, secret, now }: Owner): boolean {
  const [seconds = '', nonce = '', signature = ''] = state.split('.');
  if (!isSameSecret(signatureOf(secret, 'x state', [userId, seconds, nonce]), signature)) return false;
  const age = now.getTime() / 1000 - Number(seconds);
  return age < VALID_SECONDS;
}

/** PKCE: the verifier that only this server can say, and the challenge by which X knows it. */
export function pkceOf(state: string, secret: string): { verifier: string; challenge: string } {
  const verifier = signatureOf(secret, 'x verifier', [state]);
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

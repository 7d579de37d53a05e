import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a person may take on X's page. */
const VALID_SECONDS = 15 * 60;

type Owner = { userId: string; secret: string; now: Date };

/**
 * What goes to X's page and comes back from it: a nonce and the time, signed for the user. Whoever comes back with
 * somebody else's connects nothing, and nothing has to be kept meanwhile.
 */
export function makeXState({ userId, secret, now }: Owner): string {
  const begin = `${Math.floor(now.getTime() / 1000)}.${randomBytes(16).toString('base64url')}`;
  return `${begin}.${sign(secret, `state ${userId} ${begin}`)}`;
}

/** Whether this server made it for the user, a short while ago. */
export function isXState(state: string, { userId, secret, now }: Owner): boolean {
  const [seconds = '', nonce = '', signature = ''] = state.split('.');
  const expected = Buffer.from(sign(secret, `state ${userId} ${seconds}.${nonce}`));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  const age = now.getTime() / 1000 - Number(seconds);
  return age < VALID_SECONDS;
}

/** PKCE: the verifier that only this server can say, and the challenge by which X knows it. */
export function pkceOf(state: string, secret: string): { verifier: string; challenge: string } {
  const verifier = sign(secret, `verifier ${state}`);
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(`bakehouse x ${text}`).digest('base64url');
}

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Signs all parts. Each purpose has a separate key, so that no signature is valid for another. */
export function signatureOf(secret: string, purpose: string, parts: readonly (string | number)[]): string {
  return signatureOfText(secret, purpose, JSON.stringify(parts));
}

/** Signs one text, under the key of its purpose. */
export function signatureOfText(secret: string, purpose: string, text: string): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `bakehouse ${purpose}`, 32));
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Returns true if a signature or token matches. Constant time for any guess, of any length. */
export function isSameSecret(right: string, given: string): boolean {
  return timingSafeEqual(digestOf(right), digestOf(given));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

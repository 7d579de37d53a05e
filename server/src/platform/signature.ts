import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Signs all parts; each purpose has a key of its own, so that no signature is good for another one. */
export function signatureOf(secret: string, purpose: string, parts: readonly (string | number)[]): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `bakehouse ${purpose}`, 32));
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** Whether two signatures are the same, in constant time. */
export function isSameSignature(right: string, given: string): boolean {
  const [ours, theirs] = [Buffer.from(right), Buffer.from(given)];
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

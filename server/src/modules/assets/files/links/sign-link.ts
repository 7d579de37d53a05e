import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export type LinkedFile = {
  sha256: string;
  name: string;
  disposition: 'attachment' | 'inline';
  /** Seconds since 1970. */
  expires: number;
};

/** Signs all that a link says: whoever changes a part of it has no link any more. */
export function signLink(secret: string, file: LinkedFile): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'bakehouse file links', 32));
  const text = JSON.stringify([file.sha256, file.name, file.disposition, file.expires]);
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Whether this server has signed just that. */
export function isSignatureOf(secret: string, file: LinkedFile, signature: string): boolean {
  const [right, given] = [Buffer.from(signLink(secret, file)), Buffer.from(signature)];
  return right.length === given.length && timingSafeEqual(right, given);
}

import type { Config } from '../../config.ts';
import { isSameSecret, signatureOf } from '../../platform/signature.ts';

/** 16 bytes in base64url. */
const ID_LENGTH = 22;
/** 132 bits, infeasible to guess. */
const SIGNATURE_LENGTH = 22;

/** Returns the token in a share link's URL: its id and this server's signature. */
export function shareToken(secret: string, shareId: string): string {
  const id = Buffer.from(shareId.replaceAll('-', ''), 'hex').toString('base64url');
  return id + signatureOf(secret, 'share links', [shareId]).slice(0, SIGNATURE_LENGTH);
}

/** Returns the share link's id; null if this server did not sign the token. */
export function readShareToken(secret: string, token: string): string | null {
  const hex = Buffer.from(token.slice(0, ID_LENGTH), 'base64url').toString('hex');
  const shareId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isSameSecret(shareToken(secret, shareId), token) ? shareId : null;
}

/** Returns the URL of a share page. */
export function sharePageUrl({ publicUrl }: Config, token: string): string {
  return new URL(`/share/${encodeURIComponent(token)}`, publicUrl).href;
}

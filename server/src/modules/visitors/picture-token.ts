import { isSameSecret, signatureOf } from '../../platform/signature.ts';

const ID_LENGTH = 36;

/** Returns the token for a visitor's picture: its id, signed. */
export function pictureToken(secret: string, generationId: string): string {
  return generationId + signatureOf(secret, 'pictures of visitors', [generationId]);
}

/** Returns the id in a token; null if this server did not sign it. */
export function readPictureToken(secret: string, token: string): string | null {
  const id = token.slice(0, ID_LENGTH);
  return isSameSecret(pictureToken(secret, id), token) ? id : null;
}

import { isSameSecret, signatureOf } from '../../../../platform/signature.ts';

/** Whose reading a link lends: it ends with that. */
export type LinkHolder = {
  /** Who has made the link. */
  user: string;
  /** The asset that the file is in; a picture that was generated or uploaded is in none. */
  asset?: string | undefined;
  /** The revision, where another than the newest was meant. */
  revision?: string | undefined;
};

export type LinkedFile = LinkHolder & {
  sha256: string;
  name: string;
  disposition: 'attachment' | 'inline';
  /** Seconds since 1970. */
  expires: number;
};

/** Signs all that a link says: whoever changes a part of it has no link any more. */
export function signLink(secret: string, file: LinkedFile): string {
  const { sha256, name, disposition, expires, user, asset = '', revision = '' } = file;
  return signatureOf(secret, 'file links', [sha256, name, disposition, expires, user, asset, revision]);
}

/** Whether this server has signed just that. */
export function isSignatureOf(secret: string, file: LinkedFile, signature: string): boolean {
  return isSameSecret(signLink(secret, file), signature);
}

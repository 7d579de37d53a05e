import { isSameSecret, signatureOf } from '../../../../platform/signature.ts';

/** The read access that a link grants: it ends with the access of its creator. */
export type LinkHolder = {
  /** The creator of the link. */
  user: string;
  /** The asset that contains the file; absent for generated and uploaded pictures. */
  asset?: string | undefined;
  /** The revision, unless it is the newest. */
  revision?: string | undefined;
};

export type LinkedFile = LinkHolder & {
  sha256: string;
  name: string;
  disposition: 'attachment' | 'inline';
  /** Seconds since 1970. */
  expires: number;
};

/** Signs all parts of a link, so that any change invalidates it. */
export function signLink(secret: string, file: LinkedFile): string {
  const { sha256, name, disposition, expires, user, asset = '', revision = '' } = file;
  return signatureOf(secret, 'file links', [sha256, name, disposition, expires, user, asset, revision]);
}

/** Returns true if this server signed exactly these values. */
export function isSignatureOf(secret: string, file: LinkedFile, signature: string): boolean {
  return isSameSecret(signLink(secret, file), signature);
}

import { isSameSecret, signatureOf } from '../../../../platform/signature.ts';

export type LinkedFile = {
  sha256: string;
  name: string;
  disposition: 'attachment' | 'inline';
  /** Seconds since 1970. */
  expires: number;
};

/** Signs all that a link says: whoever changes a part of it has no link any more. */
export function signLink(secret: string, file: LinkedFile): string {
  return signatureOf(secret, 'file links', [file.sha256, file.name, file.disposition, file.expires]);
}

/** Whether this server has signed just that. */
export function isSignatureOf(secret: string, file: LinkedFile, signature: string): boolean {
  return isSameSecret(signLink(secret, file), signature);
}

import type { Services } from '../../../platform/context.ts';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { isKeyLive } from '../../accounts/steps.ts';
import { HubError } from '../hub-error.ts';

type Signed = {
  uploadId: string;
  by: string;
  /** The API key that started the upload; absent for a browser session. */
  key_id?: string | undefined;
  /** Seconds since 1970. */
  expires: number;
};

/** Returns the signature in upload URLs, because Git LFS calls them without a key. */
export function signUpload(
  config: Services['config'],
  { uploadId, by, key_id = '', expires }: Signed,
): string {
  return signatureOf(serverSecret(config), 'hub uploads', [uploadId, by, key_id, expires]);
}

/** Throws HubError 'forbidden' for an invalid signature, an expired URL and a revoked key. */
export async function checkSignature(
  { clock, config, db }: Pick<Services, 'clock' | 'config' | 'db'>,
  { signature, ...signed }: Signed & { signature: string },
): Promise<void> {
  if (!isSameSecret(signUpload(config, signed), signature))
    throw new HubError(
      'forbidden',
      null,
      'This address was not given out by this server, or has been changed',
    );
  const now = clock.now();
  const { key_id: keyId, expires } = signed;
  if (expires * 1000 > now.getTime() && (keyId === undefined || (await isKeyLive(db, keyId, now)))) return;
  throw new HubError('forbidden', null, 'This address has ended. Start the upload again to go on with it');
}

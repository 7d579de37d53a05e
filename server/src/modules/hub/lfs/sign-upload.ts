import type { Services } from '../../../platform/context.ts';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { HubError } from '../hub-error.ts';

type Signed = { uploadId: string; by: string };

/** What stands in the addresses of an upload, since Git LFS calls them without a key. */
export function signUpload(config: Services['config'], { uploadId, by }: Signed): string {
  return signatureOf(serverSecret(config), 'hub uploads', [uploadId, by]);
}

/** Throws HubError 'forbidden' for an address that this server has not given out. */
export function checkSignature(
  config: Services['config'],
  { signature, ...signed }: Signed & { signature: string },
): void {
  if (isSameSecret(signUpload(config, signed), signature)) return;
  throw new HubError('forbidden', null, 'This address was not given out by this server, or has been changed');
}

import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openFileLink } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { mayStillRead } from './may-still-read.ts';
import { isSignatureOf } from './sign-link.ts';

/**
 * Returns the size and the remaining lifetime of a link's file. Throws AppError 'forbidden' for a link that
 * this server did not sign, 'gone' for an expired link, and 'not_found' if the file was deleted or replaced,
 * or if the link's creator may no longer read it.
 */
export async function checkLink(
  services: Services,
  { params, query }: Pick<InputOf<typeof openFileLink>, 'params' | 'query'>,
): Promise<{ sizeBytes: number; leftSeconds: number }> {
  const { sha256, '*': name } = params;
  const { signature, ...said } = query;
  const { expires } = said;
  if (!isSignatureOf(serverSecret(services.config), { sha256, name, ...said }, signature)) {
    throw new AppError('forbidden', {
      publicMessage: 'This link was not made by this server, or has been changed. Ask for a new one.',
      param: 'signature',
    });
  }
  const leftSeconds = Math.floor(expires - services.clock.now().getTime() / 1000);
  if (leftSeconds <= 0) {
    throw new AppError('gone', {
      publicMessage: 'This link has expired. Ask for a new one.',
      param: 'expires',
    });
  }
  const isOpen = await mayStillRead(services.db, { sha256, ...said });
  const found = isOpen && (await services.blobs.stat(sha256));
  if (!found)
    throw new AppError('not_found', { publicMessage: `${name} is no longer there, or was replaced` });
  return { sizeBytes: found.sizeBytes, leftSeconds };
}

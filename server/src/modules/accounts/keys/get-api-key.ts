import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { decryptApiKey } from './api-key.ts';
import { findEncryptedKey } from './key-queries.ts';

/**
 * Returns the caller's web app key in clear text. Only a browser session, or a program with this key, may
 * read it. Throws AppError 'key_not_readable' if it was encrypted with another secret: the database otherwise
 * has only its hash.
 */
export async function getApiKey(ctx: Context): Promise<{ data: string }> {
  const { userId } = ctx.caller;
  const encrypted = await findEncryptedKey(ctx.db, userId);
  if (!encrypted) throw new AppError('not_found', { publicMessage: 'API key not found' });
  try {
    return { data: decryptApiKey(encrypted, { userId, secret: serverSecret(ctx.config) }) };
  } catch (cause) {
    throw new AppError('key_not_readable', {
      publicMessage:
        "This server's secret has changed, so it can no longer show your API key. The key itself still works",
      cause,
    });
  }
}

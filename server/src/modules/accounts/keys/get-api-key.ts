import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { decryptApiKey } from './api-key.ts';
import { findEncryptedKey } from './key-queries.ts';

/**
 * The caller's API key of the web app, in full. Only a browser session may read it, and a program that has it. Throws AppError
 * 'key_not_readable' where it was encrypted under another secret: the database knows only its hash.
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

import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { decryptApiKey } from './api-key.ts';
import { findEncryptedKey } from './queries.ts';
import { serverSecret } from './server-secret.ts';

/** The caller's API key, in full. Only a browser session may read it. */
export async function getApiKey(ctx: Context): Promise<{ data: string }> {
  const { userId } = ctx.caller;
  const encrypted = await findEncryptedKey(ctx.db, userId);
  if (!encrypted) throw new AppError('not_found', { publicMessage: 'API key not found' });
  return { data: decryptApiKey(encrypted, { userId, secret: serverSecret(ctx.config) }) };
}

import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { encryptApiKey, hashApiKey, makeApiKey } from './api-key.ts';
import { replaceKey } from './queries.ts';
import { recordAudit } from './record-audit.ts';
import { serverSecret } from './server-secret.ts';

/** Gives the caller a new API key. The old one is nobody's from the commit on. */
export async function rotateApiKey(ctx: Context): Promise<{ data: string }> {
  const { userId } = ctx.caller;
  const key = makeApiKey();
  const encrypted = encryptApiKey(key, { userId, secret: serverSecret(ctx.config) });
  await inTransaction(ctx.db, async (tx) => {
    await replaceKey(tx, { userId, sha256: hashApiKey(key), encrypted });
    await recordAudit(tx, { userId, action: 'api_key.rotated' });
  });
  return { data: key };
}

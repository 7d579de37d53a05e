import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { recordAudit } from './record-audit.ts';
import { renewKey } from './renew-key.ts';
import { serverSecret } from './server-secret.ts';

/** Gives the caller a new API key. The old one is nobody's from the commit on. */
export async function rotateApiKey(ctx: Context): Promise<{ data: string }> {
  const { userId } = ctx.caller;
  const data = await inTransaction(ctx.db, async (tx) => {
    const key = await renewKey(tx, { userId, secret: serverSecret(ctx.config) });
    await recordAudit(tx, { userId, action: 'api_key.rotated' });
    return key;
  });
  return { data };
}

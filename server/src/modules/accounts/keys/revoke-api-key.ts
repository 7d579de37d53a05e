import type { revokeApiKey as contract } from '@bakehouse/contract/api-keys';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { recordAudit } from '../record-audit.ts';
import { refuseWebAppKey } from './change-api-key.ts';
import { endKeys } from './end-keys.ts';
import { findOwnKey } from './find-own-key.ts';

/** Ends an API key of the caller and its open requests. Throws AppError 'conflict' for the web app's key. */
export async function revokeApiKey(ctx: Context, { params }: InputOf<typeof contract>): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    const key = await findOwnKey(tx, ctx, params.keyId);
    refuseWebAppKey(key, 'revoked');
    await endKeys(tx, [key], ctx.clock.now());
    await recordAudit(tx, {
      userId: key.user_id,
      action: 'api_key.revoked',
      detail: { key_id: key.id },
    });
  });
  await ctx.rowChanges.catchUp();
}

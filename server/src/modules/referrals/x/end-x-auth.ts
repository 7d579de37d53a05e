import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { decrypt } from '../../../platform/secrets/encryption.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { requireX } from './require-x.ts';
import { deleteXAccount, findXAccount } from './x-queries.ts';

/**
 * Deletes the caller's X account, then revokes its tokens at X, which may fail. With `isDeletion` the
 * account's name is left out of the append-only audit log.
 */
export async function endXAuth(ctx: Context, { isDeletion = false } = {}): Promise<void> {
  const { config, clock, db, log } = ctx;
  const { userId } = ctx.caller;
  const { client, encryptionOf } = requireX({ config, clock });
  const account = await findXAccount(db, userId);
  if (!account) return;
  await inTransaction(db, async (tx) => {
    if (await deleteXAccount(tx, userId)) {
      await recordAudit(tx, {
        userId,
        action: 'x_account.disconnected',
        detail: isDeletion ? {} : { username: account.username },
      });
    }
  });
  try {
    await client.revoke(decrypt(account.refresh_token, encryptionOf(userId)));
  } catch (error) {
    log.warn({ err: error, user_id: userId }, 'failed to revoke a token at X');
  }
}

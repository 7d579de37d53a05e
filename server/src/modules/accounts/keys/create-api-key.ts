import type { createApiKey as contract } from '@bakehouse/contract/api-keys';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../record-audit.ts';
import { hashApiKey, makeApiKey } from './api-key.ts';
import { findOwnKey, findOwnWebAppKey } from './find-own-key.ts';
import { insertKey, listKeys } from './key-queries.ts';
import { readBudget, readExpiry } from './key-settings.ts';
import { toApiKey } from './to-api-key.ts';

const KEYS_MAX = 100;

/**
 * Creates an additional API key of the caller. Only this response contains its secret. Throws AppError
 * 'conflict' above the maximum.
 */
export async function createApiKey(
  ctx: Context,
  { body }: Pick<InputOf<typeof contract>, 'body'>,
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const expiresAt = readExpiry(body.expires_at, now);
  const secret = makeApiKey();
  return inTransaction(ctx.db, async (tx) => {
    await findOwnWebAppKey(tx, ctx);
    if ((await listKeys(tx, userId)).length >= KEYS_MAX) {
      throw new AppError('conflict', {
        publicMessage: `You have ${KEYS_MAX} API keys. Revoke one before you create another`,
      });
    }
    const budget = readBudget(body.budget);
    const { name, scopes } = body;
    const keyId = await insertKey(tx, {
      userId,
      sha256: hashApiKey(secret),
      at: now,
      name,
      scopes,
      expiresAt,
      budget,
    });
    await recordAudit(tx, { userId, action: 'api_key.created', detail: { key_id: keyId } });
    return { api_key: toApiKey(await findOwnKey(tx, ctx, keyId), now), secret };
  });
}

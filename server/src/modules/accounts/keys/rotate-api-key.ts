import type { rotateApiKeyById as byId } from '@bakehouse/contract/api-keys';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { recordAudit } from '../record-audit.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { findOwnKey, findOwnWebAppKey } from './find-own-key.ts';
import type { KeyRow } from './key-queries.ts';
import { renewKey } from './renew-key.ts';
import { toApiKey } from './to-api-key.ts';

/** Rotates the API key of the caller's web app; the old key is invalid from the commit on. */
export async function rotateApiKey(ctx: Context): Promise<{ data: string }> {
  const data = await inTransaction(ctx.db, async (tx) => {
    return rotate(tx, ctx, await findOwnWebAppKey(tx, ctx), false);
  });
  await ctx.rowChanges.catchUp();
  return { data };
}

/** Rotates any of the caller's keys; the old secret may stay valid for a day. */
export async function rotateApiKeyById(
  ctx: Context,
  { params, body }: InputOf<typeof byId>,
): Promise<ResponseOf<typeof byId>> {
  const rotated = await inTransaction(ctx.db, async (tx) => {
    await findOwnWebAppKey(tx, ctx);
    const secret = await rotate(tx, ctx, await findOwnKey(tx, ctx, params.keyId), body.keep_old);
    return { api_key: toApiKey(await findOwnKey(tx, ctx, params.keyId), ctx.clock.now()), secret };
  });
  await ctx.rowChanges.catchUp();
  return rotated;
}

async function rotate(tx: Transaction, ctx: Context, key: KeyRow, keepOld: boolean): Promise<string> {
  const secret = await renewKey(tx, key, {
    serverSecret: serverSecret(ctx.config),
    now: ctx.clock.now(),
    keepOld,
  });
  await recordAudit(tx, { userId: key.user_id, action: 'api_key.rotated', detail: { key_id: key.id } });
  return secret;
}

import type { ApiKey, changeApiKey as contract } from '@bakehouse/contract/api-keys';
import type { InputOf, KeyScope } from '@bakehouse/contract/endpoint';
import type { BudgetPeriod } from '@bakehouse/contract/limits';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../record-audit.ts';
import { findOwnKey } from './find-own-key.ts';
import { type Budget, type KeyRow, updateKey } from './key-queries.ts';
import { readBudget, readExpiry } from './key-settings.ts';
import { toApiKey } from './to-api-key.ts';

/** Changes an API key's settings; null removes an expiry or a budget. Throws AppError 'conflict'. */
export async function changeApiKey(
  ctx: Context,
  { params, body }: InputOf<typeof contract>,
): Promise<ApiKey> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const changed = await inTransaction(ctx.db, async (tx) => {
    const key = await findOwnKey(tx, ctx, params.keyId);
    refuseWebAppKey(key, 'changed');
    await updateKey(tx, key.id, {
      name: body.name ?? key.name,
      scopes: body.scopes ?? (key.scopes as KeyScope[]),
      expiresAt: body.expires_at === undefined ? key.expires_at : readExpiry(body.expires_at, now),
      budget: body.budget === undefined ? budgetOf(key) : readBudget(body.budget),
    });
    await publishChange(tx, userId, { topic: 'api_key', id: key.id });
    await recordAudit(tx, { userId, action: 'api_key.changed', detail: { key_id: key.id } });
    return toApiKey(await findOwnKey(tx, ctx, key.id), now);
  });
  await ctx.rowChanges.catchUp();
  return changed;
}

function budgetOf({ budget_micro, budget_period }: KeyRow): Budget | null {
  if (budget_micro === null) return null;
  return { amountMicro: budget_micro, period: budget_period as BudgetPeriod };
}

/** Throws AppError 'conflict' for the web app's key, without which the web app would stop working. */
export function refuseWebAppKey(key: KeyRow, done: 'changed' | 'revoked'): void {
  if (!key.for_web_app) return;
  throw new AppError('conflict', {
    publicMessage: `The key of the web app cannot be ${done}. Rotate it, or create another key`,
  });
}

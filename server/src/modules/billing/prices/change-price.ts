import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { PRICE_AHEAD_DAYS_MAX } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { changePrice as contract } from '@bakehouse/contract/prices';
import { DAY_MS } from '../../../platform/clock.ts';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { insertPriceChange, lockPrice, selectPriceChanges, withdrawPending } from './price-queries.ts';
import { defaultPrices, type PriceId } from './prices.ts';
import { pricesAt } from './prices-at.ts';

/**
 * Changes a price, immediately or at a future time; the caller is an operator. Withdraws an earlier change
 * that is still pending. Existing holds keep the price at which they were quoted.
 */
export async function changePrice(
  ctx: Context,
  { price_id, unit_price: unitPriceMicro, valid_from }: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  const priceId = knownPrice(price_id);
  const { userId } = ctx.caller;
  const id = await inTransaction(ctx.db, async (tx) => {
    await lockPrice(tx, priceId);
    const now = ctx.clock.now();
    const validFrom = momentOf(valid_from ?? null, now);
    const changes = await selectPriceChanges(tx, now);
    const previousMicro = pricesAt(changes, now)[priceId].unitPriceMicro;
    const isPending = changes.some((change) => change.price_id === priceId && change.valid_from > now);
    if (unitPriceMicro === previousMicro && !isPending)
      throw invalidParam('unit_price', 'unit_price is already the price');
    await withdrawPending(tx, priceId, now);
    await recordAudit(tx, {
      userId,
      action: 'price.changed',
      detail: {
        price_id: priceId,
        previous: formatBgl(previousMicro),
        unit_price: formatBgl(unitPriceMicro),
        valid_from: validFrom.toISOString(),
      },
    });
    const change = { priceId, unitPriceMicro, previousMicro, validFrom, changedBy: userId, createdAt: now };
    return insertPriceChange(tx, change);
  });
  await ctx.rowChanges.catchUp();
  return { change_id: id };
}

function knownPrice(id: string): PriceId {
  if (Object.hasOwn(defaultPrices, id)) return id as PriceId;
  throw invalidParam('price_id', `price_id must be one of ${Object.keys(defaultPrices).join(', ')}`);
}

/**
 * Returns the time of the change. It must not be in the past, because prices that users have already paid
 * never change.
 */
function momentOf(text: string | null, now: Date): Date {
  if (text === null) return now;
  const at = new Date(text);
  if (at <= now)
    throw invalidParam('valid_from', 'valid_from must be in the future; omit it to change the price now');
  if (at.getTime() > now.getTime() + PRICE_AHEAD_DAYS_MAX * DAY_MS)
    throw invalidParam('valid_from', `valid_from must lie within ${PRICE_AHEAD_DAYS_MAX} days`);
  return at;
}

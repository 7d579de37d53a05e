import type { InputOf } from '@bakehouse/contract/endpoint';
import type { DataReading, cancelReading as endpoint } from '@bakehouse/contract/training';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { endReading, findReading } from './queries.ts';
import { toReading } from './to-reading.ts';

/**
 * Cancels a reading; its reader stops within seconds. Ended readings stay unchanged. Throws
 * AppError('not_found') if it is not the caller's.
 */
export async function cancelReading(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<DataReading> {
  return inTransaction(ctx.db, async (tx) => {
    const reading = await findReading(tx, params.readingId);
    if (!reading || reading.user_id !== ctx.caller.userId)
      throw new AppError('not_found', { publicMessage: 'Reading not found' });
    const ended = await endReading(tx, reading.id, { state: 'cancelled' }, ctx.clock.now());
    await publishChange(tx, reading.user_id, { topic: 'reading', id: reading.id });
    return toReading(ended ?? reading);
  });
}

import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { refuseFullStorage } from '../assets/files/refuse-full-storage.ts';
import { giveGeneration } from '../generations/give-generation.ts';
import { VISITORS } from './as-visitor.ts';
import { goneAfterAnHour, idOfToken } from './visitor-picture.ts';

/**
 * Moves a visitor's picture to the caller's gallery; the visitors' budget still pays for it. Throws AppError
 * 'not_found', 'conflict' if it is not completed, and whatever `refuseFullStorage` throws.
 */
export async function keepVisitorPicture(
  ctx: Context,
  { token }: { token: string },
): Promise<{ generation_id: string }> {
  const { userId } = ctx.caller;
  const id = idOfToken(ctx, token);
  return inTransaction(ctx.db, async (tx) => {
    await refuseFullStorage(tx, ctx.config, userId);
    const given = await giveGeneration(tx, { id, from: VISITORS, to: userId });
    if (given === undefined) throw goneAfterAnHour();
    if (given === null)
      throw new AppError('conflict', { publicMessage: 'This picture is not completed yet' });
    return { generation_id: given };
  });
}

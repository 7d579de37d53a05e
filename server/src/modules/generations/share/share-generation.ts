import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { shareGeneration as endpoint } from '@bakehouse/contract/generation-shares';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findOwnGeneration } from '../find-own-generation.ts';
import { mediumOf } from '../media-table.ts';
import { insertShare, selectShare } from './share-queries.ts';
import { toShare } from './to-share.ts';

/**
 * Shares one of the caller's generations by a link that opens for anybody; one that is shared keeps its link. Throws AppError
 * 'not_found', and 'conflict' where nothing was made that could be shown.
 */
export async function shareGeneration(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  return inTransaction(ctx.db, async (tx) => {
    const { state, generator } = await findOwnGeneration(tx, { id, userId });
    if (state !== 'completed') {
      throw new AppError('conflict', {
        publicMessage: `This ${mediumOf(generator).noun} is not completed, so there is nothing to share`,
      });
    }
    const own = { generationId: id, userId };
    const known = await selectShare(tx, own);
    if (known) return { share: toShare(ctx.config, known) };
    const share = await insertShare(tx, own);
    await recordAudit(tx, { userId, action: 'generation.shared', detail: { generation_id: id } });
    await publishChange(tx, userId, { topic: 'generation', id });
    return { share: toShare(ctx.config, share) };
  });
}

import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findOwnGeneration } from '../find-own-generation.ts';
import { deleteShare } from './share-queries.ts';

/** Revokes the link of one of the caller's generations, if it has one. Throws AppError 'not_found'. */
export async function unshareGeneration(ctx: Context, { id }: { id: string }): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await findOwnGeneration(tx, { id, userId });
    if (!(await deleteShare(tx, { generationId: id, userId }))) return;
    await recordAudit(tx, { userId, action: 'generation.unshared', detail: { generation_id: id } });
    await publishChange(tx, userId, { topic: 'generation', id });
  });
}

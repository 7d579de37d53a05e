import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { deleteModel, listRequesters } from './queries.ts';

/** Deletes a restricted model with its requests, but not its asset; the caller is an operator. */
export async function deleteRestrictedModel(ctx: Context, { modelId }: { modelId: string }): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const concerned = [userId, ...(await listRequesters(tx, modelId))];
    if (!(await deleteModel(tx, modelId))) {
      throw new AppError('not_found', { publicMessage: 'There is no restricted model with this id' });
    }
    await recordAudit(tx, { userId, action: 'restricted_model.deleted', detail: { model_id: modelId } });
    const event = { topic: 'asset', id: modelId } as const;
    await publishChanges(
      tx,
      concerned.map((id) => ({ userId: id, event })),
    );
  });
}

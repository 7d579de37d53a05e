import type { InputOf } from '@bakehouse/contract/endpoint';
import type { requestAccess as endpoint, RestrictedModel } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { getRestrictedModel } from './get-restricted-model.ts';
import { insertRequest } from './queries.ts';

/** Requests access to a restricted model from the operators; a rejected user may request it again. */
export async function requestAccess(
  ctx: Context,
  { params: { modelId }, body: { message } }: InputOf<typeof endpoint>,
): Promise<RestrictedModel> {
  const { userId } = ctx.caller;
  const model = await getRestrictedModel(ctx, { modelId });
  await inTransaction(ctx.db, async (tx) => {
    if (!(await insertRequest(tx, { modelId, userId, message }))) {
      throw new AppError('conflict', {
        publicMessage:
          model.access === 'granted'
            ? `You have access to ${model.name} already`
            : `You have asked for access to ${model.name} already. An operator will decide.`,
      });
    }
    await recordAudit(tx, { userId, action: 'access.requested', detail: { model_id: modelId } });
    await publishChange(tx, userId, { topic: 'asset', id: modelId });
  });
  return getRestrictedModel(ctx, { modelId });
}

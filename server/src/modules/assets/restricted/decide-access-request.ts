import type { InputOf } from '@bakehouse/contract/endpoint';
import type { AccessRequest, decideAccessRequest as endpoint } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { notify } from '../../notifications/notify.ts';
import { findRequest, type RequestRow, setDecision } from './queries.ts';
import { toAccessRequest } from './to-restricted-model.ts';

/**
 * Grants or rejects a request; the caller is an operator. A decision can be changed: a rejected user can no
 * longer read the files, while running work continues.
 */
export async function decideAccessRequest(
  ctx: Context,
  { params: { requestId }, body: { decision } }: InputOf<typeof endpoint>,
): Promise<AccessRequest> {
  const operatorId = ctx.caller.userId;
  return inTransaction(ctx.db, async (tx) => {
    const before = await findRequest(tx, requestId);
    if (!before) throw new AppError('not_found', { publicMessage: 'There is no such request' });
    const now = ctx.clock.now();
    if (before.state !== decision) {
      await setDecision(tx, { id: requestId, decision, decidedBy: operatorId, now });
      const detail = { model_id: before.restricted_model_id, to_user_id: before.user_id };
      await recordAudit(tx, { userId: operatorId, action: `access.${decision}`, detail });
      await notifyOfDecision(tx, before, decision);
      await publishChange(tx, before.user_id, { topic: 'asset', id: before.restricted_model_id });
    }
    return toAccessRequest((await findRequest(tx, requestId)) ?? before);
  });
}

async function notifyOfDecision(
  tx: Transaction,
  { user_id: userId, restricted_model_id, model_name, state }: RequestRow,
  decision: 'granted' | 'refused',
): Promise<void> {
  const model = { model_id: restricted_model_id, name: model_name };
  if (decision === 'granted') return notify(tx, { userId, kind: 'access_granted', data: model });
  const data = { ...model, was_granted: state === 'granted' };
  await notify(tx, { userId, kind: 'access_refused', data });
}

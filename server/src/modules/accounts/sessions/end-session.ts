import type { InputOf } from '@bakehouse/contract/endpoint';
import type { endSession as endpoint } from '@bakehouse/contract/profile';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../record-audit.ts';
import { deleteSessions } from './session-queries.ts';

/** Signs the caller out of one browser and notifies it. Throws AppError 'not_found'. */
export async function endSession(
  { db, caller }: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<void> {
  const { userId } = caller;
  await inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, userId, { only: params.sessionId });
    if (ended === 0) throw new AppError('not_found', { publicMessage: 'This session has already ended' });
    await recordAudit(tx, { userId, action: 'session.ended', detail: { session_id: params.sessionId } });
    await publishChange(tx, userId, { topic: 'user', id: userId });
  });
}

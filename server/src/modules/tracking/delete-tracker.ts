import type { InputOf } from '@bakehouse/contract/endpoint';
import { type deleteTracker as endpoint, trackerLabels } from '@bakehouse/contract/trackers';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { deleteTrackerRow } from './tracker-queries.ts';

/** Forgets a tracker with its key; what was logged there stays there. Throws AppError 'not_found'. */
export async function deleteTracker(
  { db, caller: { userId } }: Context,
  { params: { service } }: InputOf<typeof endpoint>,
): Promise<undefined> {
  await inTransaction(db, async (tx) => {
    if (!(await deleteTrackerRow(tx, { userId, service })))
      throw new AppError('not_found', { publicMessage: `${trackerLabels[service]} is not connected` });
    await recordAudit(tx, { userId, action: 'tracker.deleted', detail: { service: trackerLabels[service] } });
  });
}

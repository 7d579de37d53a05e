import type { Transaction } from '../../../platform/db/database.ts';
import { notify } from '../../notifications/notify.ts';
import { announceClone } from './announce-clone.ts';
import type { CloneRow } from './clones-table.ts';
import { insertLines, updateClone } from './queries.ts';

type End = { now: Date } & (
  | { state: 'COMPLETED'; assetId: string; title: string }
  | { state: 'FAILED' | 'CANCELLED'; reason: string }
);

/** Step: ends a locked clone, and notifies its owner unless the owner ended it. */
export async function endClone(tx: Transaction, row: CloneRow, end: End): Promise<void> {
  const ended = { state: end.state, ended_at: end.now, lock_token: null, locked_until: null };
  const outcome =
    end.state === 'COMPLETED'
      ? {
          asset_id: end.assetId,
          reason: '',
          files_done: row.files_total ?? 0,
          bytes_done: row.bytes_total ?? 0n,
        }
      : { reason: end.reason };
  await updateClone(tx, row.id, { ...ended, ...outcome, bytes_per_second: null });
  await insertLines(tx, row.id, [end.state === 'COMPLETED' ? `Done: ${end.title}` : end.reason]);
  await announceClone(tx, row);
  const userId = row.user_id;
  if (end.state === 'COMPLETED') {
    const data = { asset_id: end.assetId, dataset_type: row.dataset_type, title: end.title };
    await notify(tx, { userId, kind: 'clone_completed', data });
  } else if (end.state === 'FAILED') {
    const data = { link: '/model-hub?tab=clones', title: row.repo_id };
    await notify(tx, { userId, kind: 'clone_failed', data });
  }
}

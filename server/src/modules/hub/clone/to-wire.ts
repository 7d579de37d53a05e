import type { Clone } from '@bakehouse/contract/hub/clones';
import type { CloneRow } from './clones-table.ts';

/** Returns a clone for the API. */
export function toWire(row: CloneRow): Clone {
  const bytesTotal = row.bytes_total === null ? null : Number(row.bytes_total);
  return {
    id: row.id,
    repo_id: row.repo_id,
    dataset_type: row.dataset_type,
    revision: row.commit_id,
    status: row.state,
    reason: row.reason,
    progress: progressOf(row.state, Number(row.bytes_done), bytesTotal),
    files_total: row.files_total,
    files_done: row.files_done,
    bytes_total: bytesTotal,
    bytes_done: Number(row.bytes_done),
    bytes_per_second: row.bytes_per_second === null ? null : Number(row.bytes_per_second),
    asset_id: row.asset_id,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

/** Rounds down to one decimal; 100 only once the clone is complete. */
function progressOf(state: Clone['status'], done: number, total: number | null): number {
  if (state === 'COMPLETED') return 100;
  return total ? Math.min(99.9, Math.floor((done / total) * 1_000) / 10) : 0;
}

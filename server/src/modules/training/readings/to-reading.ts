import type { DataReading } from '@bakehouse/contract/training';
import type { ReadingRow } from './queries.ts';

/** Returns the reading in the API's format. */
export function toReading(row: ReadingRow): DataReading {
  return {
    reading_id: row.id,
    dataset_id: row.dataset_asset_id,
    file_name: row.file_name,
    state: row.state as DataReading['state'],
    rows_read: row.rows_read,
    progress: Math.round(row.part * 1000) / 10,
    reason: row.reason,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

import type { Services } from '../../../platform/context.ts';
import { toJson } from '../../../platform/db/database.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type KeptLease, keepLease } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { type GenerationRow, putPreview } from '../queries.ts';
import { generationsTable } from './generations-table.ts';
import type { Progress } from './progress.ts';

/** Minimum interval between writes. */
const WRITE_EVERY_MS = 350;
/** Renewal interval of the lease if nothing was written. */
const RENEW_EVERY_MS = 1_000;

export type ProgressReport = KeptLease & { update: (progress: Progress) => void };

/** Renews the lease of a generation and writes its progress a few times per second. */
export function reportProgress(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  lease: Lease<GenerationRow>,
): ProgressReport {
  const { db } = services;
  let next: Progress | null = null;
  let writtenPreview: string | null = null;

  async function onWritten({ preview }: Progress): Promise<void> {
    if (preview !== null && preview !== writtenPreview) await putPreview(db, lease, preview);
    writtenPreview = preview;
    announceChange(db, lease.row.user_id, { topic: 'generation', id: lease.id });
  }

  const kept = keepLease(services, {
    ...{ table: generationsTable, lease, renewEveryMs: RENEW_EVERY_MS, lookEveryMs: WRITE_EVERY_MS },
    takeNews: () => {
      const progress = next;
      next = null;
      return progress && { values: progressColumns(progress), onWritten: () => onWritten(progress) };
    },
  });
  return {
    ...kept,
    update: (progress) => {
      next = progress;
    },
  };
}

/** Returns the row's progress columns; the large preview is stored in a separate table, only once. */
export function progressColumns({ preview: _preview, details, ...rest }: Progress) {
  return { ...rest, details: toJson(details) };
}

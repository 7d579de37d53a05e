import type { Services } from '../../../platform/context.ts';
import { toJson } from '../../../platform/db/database.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import { type GenerationRow, putPreview } from '../queries.ts';
import { generationsTable } from './generations-table.ts';
import type { Progress } from './progress.ts';

/** What is new is written this often at most. */
const WRITE_EVERY_MS = 350;
/** A lease that nothing new is written under is renewed this often. */
const RENEW_EVERY_MS = 1_000;

/** Thrown out of an attempt that is not this process's any more: cancelled, deleted, or leased by another. */
export class LeaseLost extends Error {}

export type ProgressReport = {
  /** Aborted with LeaseLost when somebody else decides over the generation. */
  lost: AbortSignal;
  update: (progress: Progress) => void;
  /** Nothing is written once it resolves. */
  stop: () => Promise<void>;
};

/** Keeps the lease of a generation, and writes how far it is, a few times a second. */
export function reportProgress(
  services: Pick<Services, 'db' | 'clock' | 'log'>,
  lease: Lease<GenerationRow>,
): ProgressReport {
  const { db, clock, log } = services;
  const lost = new AbortController();
  let next: Progress | null = null;
  /** The one that is written. */
  let preview: string | null = null;
  let wroteAt = performance.now();
  let writing: Promise<void> = Promise.resolve();
  let busy = false;

  async function write(): Promise<void> {
    const progress = next;
    next = null;
    wroteAt = performance.now();
    const values = progress === null ? {} : progressColumns(progress);
    if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values })))
      return lost.abort(new LeaseLost());
    if (progress === null) return;
    if (progress.preview !== null && progress.preview !== preview)
      await putPreview(db, lease, progress.preview);
    preview = progress.preview;
    announceChange(db, lease.row.user_id, { topic: 'generation', id: lease.id });
  }

  const timer = setInterval(() => {
    if (busy || (next === null && performance.now() - wroteAt < RENEW_EVERY_MS)) return;
    // One at a time: a slow database is not asked more and more.
    busy = true;
    writing = write()
      .catch((error: unknown) => log.warn({ err: error }, 'the progress of a picture could not be written'))
      .finally(() => {
        busy = false;
      });
  }, WRITE_EVERY_MS);

  return {
    lost: lost.signal,
    update: (progress) => {
      next = progress;
    },
    stop: async () => {
      clearInterval(timer);
      await writing;
    },
  };
}

/** What the row says of it; a preview, which is most of it, stands beside and is written only once. Pure. */
export function progressColumns({ preview: _preview, details, ...rest }: Progress) {
  return { ...rest, details: toJson(details) };
}

import type { Services } from '../../../platform/context.ts';
import { toJson } from '../../../platform/db/database.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import type { GenerationRow } from '../queries.ts';
import { generationsTable } from './generations-table.ts';
import type { Progress } from './progress.ts';

/** What is new is written this often at most. */
const WRITE_EVERY_MS = 350;
/** A lease that nothing new is written under is renewed this often. */
const RENEW_EVERY_MS = 1_000;

/** Thrown out of a drawing that is not this process's any more: cancelled, deleted, or leased by another. */
export class LeaseLost extends Error {}

export type ProgressReport = {
  /** Aborted with LeaseLost when somebody else decides over the generation. */
  lost: AbortSignal;
  tell: (progress: Progress) => void;
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
  let wroteAt = performance.now();
  let writing: Promise<void> = Promise.resolve();
  let busy = false;

  async function write(): Promise<void> {
    const progress = next;
    next = null;
    wroteAt = performance.now();
    const holds =
      (await renewLease(db, generationsTable, lease, clock.now())) &&
      (progress === null || (await writeProgress(services, lease, progress)));
    if (!holds) lost.abort(new LeaseLost());
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
    tell: (progress) => {
      next = progress;
    },
    stop: async () => {
      clearInterval(timer);
      await writing;
    },
  };
}

/** False where the lease does not hold any more. */
async function writeProgress(
  { db }: Pick<Services, 'db'>,
  { id, token, row }: Lease<GenerationRow>,
  progress: Progress,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('generations')
    .set({ ...progress, expert_weights: toJson(progress.expert_weights) })
    .where('id', '=', id)
    .where('lock_token', '=', token)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  announceChange(db, row.user_id, { topic: 'generation', id });
  return true;
}

import { formatBytes } from '@bakehouse/contract/labels';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { LeaseLost, underLease } from '../../../platform/leases/hold-lease.ts';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { claimRow, type Lease, releaseLeased, renewLease } from '../../../platform/leases/leased-table.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { findHubAccess } from '../public/tokens.ts';
import { type CloneReport, reportClone } from './clone-report.ts';
import { announceClone, CLONES_MOVED, endClone } from './clones.ts';
import { type CloneRow, clonesTable } from './clones-table.ts';
import { type Copying, copyFile } from './copy-file.ts';
import { finishClone } from './finish-clone.ts';
import { listRepository } from './list-repository.ts';
import { defaultPace, type Pace } from './pace.ts';
import { type CloneFile, findNextClone, selectFiles, updateClone } from './queries.ts';

/** Concurrent hub requests, and files copied concurrently, per clone. */
const REQUESTS_AT_ONCE = 4;

const ROUNDS_MAX = 3;

/** Maximum attempts. A clone with more attempts probably crashes its processes. */
const ATTEMPTS_MAX = 20;

/** Concurrent clones in this process, and per user over all processes. */
const PLACES = 3;

const PER_USER = 2;

type Parts = {
  services: Services;
  /** Aborted on a graceful shutdown of this process. */
  closing: AbortSignal;
  pace: Pace;
};

/**
 * Copies a leased clone and saves the result. Crash-safe: the lease expires and another process resumes from
 * the stored parts.
 */
async function runClone(parts: Parts, lease: Lease<CloneRow>): Promise<void> {
  const { services, closing } = parts;
  try {
    await begin(services, lease);
    await copyAll(parts, lease);
  } catch (error) {
    if (error instanceof LeaseLost) return;
    if (closing.aborted) await requeueClone(services, lease);
    else await fail(services, lease, error);
  }
}

async function begin({ db, clock }: Services, lease: Lease<CloneRow>): Promise<void> {
  const { row } = lease;
  if (row.attempt >= ATTEMPTS_MAX) throw conflict('The server stopped too often during the copy');
  const now = clock.now();
  const values = {
    state: row.files_total === null ? 'LISTING' : 'COPYING',
    attempt: row.attempt + 1,
    started_at: row.started_at ?? now,
  };
  if (!(await renewLease(db, clonesTable, lease, { now, values }))) throw new LeaseLost();
}

async function copyAll({ services, closing, pace }: Parts, lease: Lease<CloneRow>): Promise<void> {
  const before = await selectFiles(services.db, lease.id);
  const report = reportClone(services, lease, countDone(before));
  using ended = linkSignals(report.lost, closing);
  const { signal } = ended;
  try {
    const access = await findHubAccess(services, lease.row.user_id);
    const requests = fairQueue(REQUESTS_AT_ONCE);
    const copying: Copying = { services, lease, access, report, pace, requests, signal };
    let files = before;
    // The file list is empty at the first attempt. It was deleted if the clone was cancelled, or failed long
    // ago.
    if (before.length === 0) {
      await listRepository({ services, lease, access, report, signal });
      files = await selectFiles(services.db, lease.id);
    }
    for (let round = 0; files.some(({ isCopied }) => !isCopied); round += 1) {
      // Files that the store has lost in the meantime are copied again in the next round.
      if (round >= ROUNDS_MAX) throw new Error('Copied files are missing');
      await copyMissing(copying, files);
      files = await selectFiles(services.db, lease.id);
    }
    await report.stop();
    report.lost.throwIfAborted();
    await finishClone(services, lease, access);
  } finally {
    await report.stop();
  }
}

async function copyMissing(copying: Copying, files: CloneFile[]): Promise<void> {
  const missing = files.filter(({ isCopied }) => !isCopied);
  if (missing.length < files.length) reportResumedFiles(copying.report, files, missing);
  const broken = new AbortController();
  using linked = linkSignals(copying.signal, broken.signal);
  await forEachAtOnce(missing, REQUESTS_AT_ONCE, async (file) => {
    linked.signal.throwIfAborted();
    try {
      await copyFile({ ...copying, signal: linked.signal }, file);
    } catch (error) {
      // Stop the other files.
      broken.abort(error);
      throw error;
    }
  });
}

function reportResumedFiles(report: CloneReport, files: CloneFile[], missing: CloneFile[]): void {
  const bytes = missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  report.log(`Resuming: ${missing.length} of ${files.length} files are left, at most ${formatBytes(bytes)}`);
}

function countDone(files: CloneFile[]): { bytes: number; files: number } {
  const done = files.filter(({ isCopied }) => isCopied);
  return { bytes: done.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0), files: done.length };
}

/** Requeues the clone. Another process will continue with the copied files. */
async function requeueClone({ clock, db }: Services, lease: Lease<CloneRow>): Promise<void> {
  await underLease(db, clonesTable, lease, async (tx, row) => {
    await updateClone(tx, row.id, { state: 'QUEUED', attempt: row.attempt - 1, check_at: clock.now() });
    await releaseLeased(tx, clonesTable, lease);
    await announceClone(tx, row);
  });
}

/** Fails the clone. Its copied files are kept for a week, for a retry. */
async function fail({ clock, db, log }: Services, lease: Lease<CloneRow>, error: unknown): Promise<void> {
  const isExpected = error instanceof AppError;
  log[isExpected ? 'info' : 'error']({ err: error, clone_id: lease.id }, 'clone failed');
  const reason = isExpected
    ? error.publicMessage
    : 'Something went wrong on the server. Its operator can see the details';
  await underLease(db, clonesTable, lease, (tx, row) =>
    endClone(tx, row, { state: 'FAILED', reason, now: clock.now() }),
  );
}

/**
 * Runs `work` for each item, `atOnce` at a time. After a failure it starts no more items, waits for the
 * running ones, and throws the first failure.
 */
async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const item = items[next] as T;
      next += 1;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

/** Creates the loop that copies repositories from the hub. */
export function createCloneLoop(services: Services, pace: Pace = defaultPace): LeaseLoop {
  const { clock, db } = services;
  return createLeaseLoop(services, {
    name: 'clones',
    places: PLACES,
    wakeOn: CLONES_MOVED,
    claim: async (running) => {
      const lease = await inTransaction(db, async (tx) => {
        const now = clock.now();
        const id = await findNextClone(tx, { now, perUser: PER_USER, atWork: running });
        return id === null ? null : claimRow(tx, clonesTable, id, now);
      });
      return lease && { id: lease.id, run: (closing) => runClone({ services, closing, pace }, lease) };
    },
  });
}

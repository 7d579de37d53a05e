import type { ValidateProgress, ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { oneAtATime } from '../../../platform/concurrency/one-at-a-time.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { defineJob, type Job } from '../../../platform/jobs/define-job.ts';
import type { JobKind } from '../../../platform/jobs/jobs.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import type { DataToRead, ReadData } from '../validation/read-data.ts';
import { readingLimits } from './limits.ts';
import { endReading, findReading, type ReadingEnd, type ReadingRow, updateProgress } from './queries.ts';

/** Interval for saving the progress and noticing a cancel. */
const NOTE_MS = 1_000;

export const readingJob: JobKind<{ readingId: string }> = { name: 'training.read-data' };

/**
 * Creates the job that reads a data file to its end and stores the report. After a server restart it starts
 * again.
 */
export function readInBackground(read: ReadData): Job<{ readingId: string }> {
  return defineJob({
    ...readingJob,
    retries: readingLimits.retries,
    timeoutSeconds: readingLimits.attemptSeconds,
    run: async (services, { readingId }, signal, isLast) => {
      const reading = await findReading(services.db, readingId);
      if (reading?.state !== 'reading') return;
      const unwanted = new AbortController();
      using linked = linkSignals(signal, services.closing, unwanted.signal);
      const recorder = recordProgress(services, reading, () => unwanted.abort());
      try {
        const report = await readUntil(linked.signal, (options) =>
          read(toCall(services, reading), toInput(reading), {
            ...options,
            onProgress: recorder.progress,
          }),
        );
        await finish(services, reading, { state: 'done', report });
      } catch (error) {
        if (unwanted.signal.aborted) return;
        // Another worker, or a later attempt, may succeed.
        const mayPass = linked.signal.aborted || (error instanceof AppError && error.code === 'unavailable');
        if (mayPass && !isLast) throw error;
        services.log.warn({ err: error, reading_id: readingId }, 'failed to read a data file');
        await finish(services, reading, { state: 'failed', reason: reasonOf(error, reading.file_name) });
      } finally {
        await recorder.stop();
      }
    },
    onLost: async (services, { readingId }) => {
      const reading = await findReading(services.db, readingId);
      if (reading?.state !== 'reading') return;
      const reason = `Reading ${reading.file_name} was interrupted at every attempt. Please try again.`;
      await finish(services, reading, { state: 'failed', reason });
    },
  });
}

function toCall(services: Services, { user_id }: ReadingRow): Parameters<ReadData>[0] {
  return { ...services, caller: { kind: 'user', userId: user_id, isOperator: false } };
}

function toInput({ input }: ReadingRow): DataToRead {
  return input as DataToRead;
}

/** Rejects as soon as the signal aborts. The read itself continues if other callers share it. */
async function readUntil(
  signal: AbortSignal,
  read: (options: { signal: AbortSignal }) => Promise<ValidateReport>,
): Promise<ValidateReport> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([read({ signal }), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Saves new progress at intervals. Calls `onUnwanted` if the reading was cancelled. */
function recordProgress(services: Services, reading: ReadingRow, onUnwanted: () => void) {
  const { db, log } = services;
  const { id, user_id } = reading;
  let latest: ValidateProgress = { rows_read: 0, part: 0, sample: null };
  let noted: Pick<ValidateProgress, 'rows_read' | 'part'> = reading;
  const saveProgress = async () => {
    const progress = latest;
    if (progress.rows_read === noted.rows_read && progress.part === noted.part) {
      if ((await findReading(db, id))?.state !== 'reading') onUnwanted();
      return;
    }
    const isWanted = await inTransaction(db, async (tx) => {
      const updated = await updateProgress(tx, id, progress);
      if (updated) await publishChange(tx, user_id, { topic: 'reading', id });
      return updated;
    });
    noted = progress;
    if (!isWanted) onUnwanted();
  };
  // If the database is slow, skip updates instead of queueing them.
  const notes = oneAtATime(saveProgress, (error) =>
    log.warn({ err: error }, 'failed to save reading progress'),
  );
  const timer = setInterval(notes.request, NOTE_MS);
  return {
    progress: (progress: ValidateProgress) => {
      latest = progress;
    },
    /** Stops saving. Nothing is written after it resolves. */
    stop: async () => {
      clearInterval(timer);
      await notes.end();
    },
  };
}

async function finish(services: Services, { id, user_id }: ReadingRow, end: ReadingEnd): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    await endReading(tx, id, end, services.clock.now());
    await publishChange(tx, user_id, { topic: 'reading', id });
  });
}

function reasonOf(error: unknown, fileName: string): string {
  return error instanceof AppError
    ? error.publicMessage
    : `${fileName} could not be read because of an error on our side. Please try again.`;
}

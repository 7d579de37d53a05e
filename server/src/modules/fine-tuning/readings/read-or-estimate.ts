import { setTimeout as sleep } from 'node:timers/promises';
import type { DataReading } from '@bakehouse/contract/fine-tuning';
import type { ValidateProgress, ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { DataToRead, ReadData } from '../validation/read-data.ts';
import { readingLimits } from './limits.ts';
import { cancelOldReadings, lockReadings, type ReadingRow, selectReport, upsertReading } from './queries.ts';
import { readingJob } from './read-in-background.ts';
import { dataCacheKey, toReading } from './readings.ts';

type Wanted = {
  input: DataToRead;
  datasetId: string;
  /** Tells whether to read the file to its end in the background, given the estimate that is returned now. */
  readsOn: (report: ValidateReport) => boolean;
  /** Aborted if the caller disconnects. */
  signal: AbortSignal;
};

type Sampled = ValidateProgress & { sample: ValidateReport };

/**
 * The report of a data file. If `reading` is set, the report is an estimate and the file is being read in the
 * background.
 */
export type KnownData = { report: ValidateReport; reading: DataReading | null };

/**
 * Returns a report within a few seconds: the complete one, or else an estimate from the first rows. Throws
 * the errors of the reader.
 */
export async function readOrEstimate(
  ctx: Context,
  read: ReadData,
  { input, datasetId, readsOn, signal }: Wanted,
): Promise<KnownData> {
  const kept = await selectReport(ctx.db, dataCacheKey(input));
  if (kept) return { report: kept, reading: null };

  const left = new AbortController();
  const sampled = Promise.withResolvers<Sampled>();
  const whole = read(ctx, input, {
    signal: AbortSignal.any([left.signal, signal]),
    onProgress: ({ sample, ...progress }) => sample && sampled.resolve({ ...progress, sample }),
  });
  // If the answer is the estimate, nothing awaits this promise, and its rejection must not crash the process.
  whole.catch(() => undefined);
  const timeout = sleep(readingLimits.estimateAfterMs, undefined, { ref: false });
  const first = await Promise.race([
    whole.then((report) => ({ report })),
    Promise.all([sampled.promise, timeout]).then(([progress]) => ({ progress })),
  ]);
  if ('report' in first) return { report: first.report, reading: null };

  const report = first.progress.sample;
  if (!readsOn(report)) {
    left.abort();
    return { report, reading: null };
  }
  setTimeout(() => left.abort(), readingLimits.handoverMs).unref();
  const row = await continueReading(ctx, { input, datasetId, progress: first.progress });
  return { report, reading: toReading(row) };
}

/**
 * Starts to read a data file to its end in the background, or returns the user's active reading of the same
 * data. If the user has too many readings, the oldest is cancelled, because the user watches the newest one.
 */
async function continueReading(
  ctx: Context,
  { input, datasetId, progress }: { input: DataToRead; datasetId: string; progress: ValidateProgress },
): Promise<ReadingRow> {
  const { userId } = ctx.caller;
  const dataName = dataCacheKey(input);
  const now = ctx.clock.now();
  return inTransaction(ctx.db, async (tx) => {
    // Without this lock, two concurrent transactions would not see each other's reading and could exceed the
    // limit.
    await lockReadings(tx, userId);
    const { isNew, ...reading } = await upsertReading(tx, {
      userId,
      dataName,
      datasetId,
      input,
      progress,
      at: now,
    });
    if (!isNew) return reading;
    for (const id of await cancelOldReadings(tx, userId, { keep: readingLimits.ownInBackground, now }))
      await publishChange(tx, userId, { topic: 'reading', id });
    await ctx.jobs.enqueue(tx, readingJob, { readingId: reading.id });
    await publishChange(tx, userId, { topic: 'reading', id: reading.id });
    return reading;
  });
}

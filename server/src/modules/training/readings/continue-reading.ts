import type { ValidateProgress } from '@bakehouse/contract/runtime/train-spec';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { DataToRead } from '../validation/read-data.ts';
import { readingLimits } from './limits.ts';
import { nameData } from './name-data.ts';
import { endOldReadings, lockReadings, type ReadingRow, upsertReading } from './queries.ts';
import { readingJob } from './read-in-background.ts';

/**
 * Has a data file read to its end in the background, once for equal calls of one user. Where the user has too many
 * read, the oldest ends: what was asked for last is what the user looks at.
 */
export async function continueReading(
  ctx: Context,
  { input, datasetId, progress }: { input: DataToRead; datasetId: string; progress: ValidateProgress },
): Promise<ReadingRow> {
  const { userId } = ctx.caller;
  const dataName = nameData(input);
  const now = ctx.clock.now();
  return inTransaction(ctx.db, async (tx) => {
    // First: of two that do not see each other's reading both would think theirs is not one too many.
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
    for (const id of await endOldReadings(tx, userId, { keep: readingLimits.ownInBackground, now }))
      await publishChange(tx, userId, { topic: 'reading', id });
    await ctx.jobs.enqueue(tx, readingJob, { readingId: reading.id });
    await publishChange(tx, userId, { topic: 'reading', id: reading.id });
    return reading;
  });
}

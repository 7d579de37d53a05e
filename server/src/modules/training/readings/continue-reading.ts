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
 * Reads a data file to its end in the background, once for equal calls of a user. Above the user's limit the
 * oldest reading is cancelled, because users watch the latest one.
 */
export async function continueReading(
  ctx: Context,
  { input, datasetId, progress }: { input: DataToRead; datasetId: string; progress: ValidateProgress },
): Promise<ReadingRow> {
  const { userId } = ctx.caller;
  const dataName = nameData(input);
  const now = ctx.clock.now();
  return inTransaction(ctx.db, async (tx) => {
    // Locks first, because two concurrent transactions would not see each other's reading and would both stay
    // below the limit.
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

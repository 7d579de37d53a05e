import { createHash } from 'node:crypto';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { cancelReading as cancelReadingEndpoint, DataReading } from '@bakehouse/contract/fine-tuning';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';
import { notFound } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { DataToRead } from '../validation/read-data.ts';
import { readingLimits } from './limits.ts';
import { endReading, findReading, type ReadingRow, selectReadings } from './queries.ts';

/**
 * Part of the cache key. Increment it when the runtime reads files in another way, so that stored reports are
 * no longer used.
 */
const READER = 4;

/** Parameters that do not affect the report. */
const OF_TRAINING = [
  'learning_rate',
  'lr_scheduler',
  'warmup_ratio',
  'weight_decay',
  'max_grad_norm',
  'neftune_noise_alpha',
  'eval_steps',
  'early_stopping_patience',
  'beta',
  'sft_weight',
  'desirable_weight',
  'undesirable_weight',
] as const satisfies readonly (keyof DataToRead['spec']['parameters'])[];

/** Deletes old reports once a day; a new request reads the file again. */
export const deleteOldReadingsJob = defineJob({
  name: 'training.forget-readings',
  schedule: '37 3 * * *',
  run: ({ db, clock }) => {
    const time = new Date(clock.now().getTime() - readingLimits.keptMs);
    return deleteBefore(db, 'data_readings', { column: 'ended_at', time });
  },
});

/** Returns the caller's background readings: active ones, and those that ended within `listedMs`. */
export async function listReadings(ctx: Context): Promise<DataReading[]> {
  const since = new Date(ctx.clock.now().getTime() - readingLimits.listedMs);
  const rows = await selectReadings(ctx.db, ctx.caller.userId, since);
  return rows.map(toReading);
}

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

/**
 * Returns a key that is equal for inputs with the same report. Alpha, dropout and scaling of an adapter do
 * not affect the report. Neither does the date, which some chat templates write into each example, because
 * its length is constant.
 */
export function dataCacheKey({ base, dataFile, validationFile, spec }: DataToRead): string {
  const lora = spec.parameters.lora && ofAdapter(spec.parameters.lora);
  const read = Object.entries(spec.parameters).filter(([name]) => !OF_TRAINING.some((one) => one === name));
  const { date, ...data } = spec.data;
  const named = {
    reader: READER,
    base,
    dataFile,
    validationFile,
    spec: { ...spec, data, parameters: { ...Object.fromEntries(read), lora } },
  };
  return createHash('sha256').update(JSON.stringify(named)).digest('hex');
}

function ofAdapter({
  alpha,
  dropout,
  use_rslora,
  ...lora
}: NonNullable<DataToRead['spec']['parameters']['lora']>) {
  return lora;
}

/**
 * Cancels a reading. Its reader stops within seconds. A reading that has ended does not change. Throws
 * AppError('not_found') if the reading is not the caller's.
 */
export async function cancelReading(
  ctx: Context,
  { params }: InputOf<typeof cancelReadingEndpoint>,
): Promise<DataReading> {
  return inTransaction(ctx.db, async (tx) => {
    const reading = await findReading(tx, params.readingId);
    if (!reading || reading.user_id !== ctx.caller.userId) throw notFound('Reading');
    const ended = await endReading(tx, reading.id, { state: 'cancelled' }, ctx.clock.now());
    await publishChange(tx, reading.user_id, { topic: 'reading', id: reading.id });
    return toReading(ended ?? reading);
  });
}

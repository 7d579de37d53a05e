import { requestedPictureCount } from '@bakehouse/contract/generators/parameters/requested-picture-count';
import type { Services } from '../../../platform/context.ts';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { isDatabaseAway } from '../../../platform/db/errors/database-errors.ts';
import { unavailable } from '../../../platform/errors.ts';
import { underLease } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { toThumbnailColumns } from '../../media/thumbnails/thumbnails.ts';
import { announceGeneration } from '../announce-generation.ts';
import { endGeneration } from '../end-generation.ts';
import { localGenerator } from '../generators/local-generators.ts';
import { deletePreview, type GenerationRow, insertOutput, updateGeneration } from '../queries.ts';
import { cancelJob } from '../services/service-job.ts';
import type { Generated, StoredOutput } from './attempt.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, planAfterFailure } from './plan-generation.ts';

/** Saves the outputs, their price and the end of the generation in one transaction. */
export async function complete(
  services: Services,
  lease: Lease<GenerationRow>,
  { outputs, revisionId, details }: Generated,
): Promise<void> {
  await underLease(services.db, generationsTable, lease, async (tx, row) => {
    for (const output of outputs) await insertOutput(tx, toColumns(row, output));
    const made = { step: row.steps, revision_id: revisionId, details: toJson(details) };
    await updateGeneration(tx, row.id, made);
    await endGeneration(tx, row, {
      state: 'completed',
      reason: missingReason(requestedPictureCount(row.parameters), outputs.length),
      // Missing outputs reduce the quoted price proportionally.
      chargedMicro: chargeFor(row, outputs),
      now: services.clock.now(),
    });
  });
}

function toColumns(
  { id, user_id }: Pick<GenerationRow, 'id' | 'user_id'>,
  {
    mediaType,
    width,
    height,
    sha256,
    sizeBytes,
    durationS,
    frames,
    hasAudio,
    thumbnail,
    strip,
  }: StoredOutput,
) {
  return {
    ...{ generation_id: id, user_id, sha256, size_bytes: BigInt(sizeBytes), media_type: mediaType },
    ...{
      width,
      height,
      duration_s: durationS,
      frames,
      has_audio: hasAudio,
      ...toThumbnailColumns(thumbnail),
    },
    strip_sha256: strip?.sha256 ?? null,
    strip_bytes: strip && BigInt(strip.sizeBytes),
  };
}

/** Returns the part of the quoted price that the delivered outputs cost. */
function chargeFor(
  { held_micro, parameters, generator, provider, queue }: GenerationRow,
  outputs: StoredOutput[],
): bigint {
  const asked = requestedPictureCount(parameters);
  const heldMicro = (held_micro * BigInt(Math.min(outputs.length, asked))) / BigInt(asked);
  const charge = provider === 'own' ? localGenerator(generator, queue)?.charge : undefined;
  const [output] = outputs;
  return charge && output ? charge(heldMicro, parameters, output) : heldMicro;
}

/** Describes the missing outputs; empty if none are missing. */
function missingReason(asked: number, come: number): string {
  const missing = asked - come;
  if (missing <= 0) return '';
  const was = missing === 1 ? 'was' : 'were';
  return `${missing} of ${asked} pictures could not be delivered and ${was} not charged.`;
}

/** Requeues a generation after a failed attempt, or ends it at no charge. */
export async function writeFailure(
  services: Services,
  lease: Lease<GenerationRow>,
  error: unknown,
): Promise<void> {
  const attempt = attemptOf(lease);
  services.log.warn({ err: error, generation_id: lease.id, attempt }, 'generation attempt failed');
  const ended = await underLease(services.db, generationsTable, lease, async (tx, row) => {
    const now = services.clock.now();
    const step = planAfterFailure(
      { ...row, attempt },
      // A database outage counts as waiting, not as an attempt.
      isDatabaseAway(error)
        ? unavailable('The database did not answer', { retryAfterMs: 0, cause: error })
        : error,
      now,
    );
    if (step.do === 'wait')
      await requeueLocked(tx, row, { reason: step.reason, check_at: step.at, attempt: step.attempt });
    if (step.do !== 'fail') return null;
    const { reason, refused } = step;
    await endGeneration(tx, row, { state: 'failed', reason, refused, chargedMicro: 0n, now });
    return row;
  });
  if (ended) await cancelJob(services, ended);
}

/**
 * Requeues the generation on shutdown. Another process can run it immediately, and the attempt does not
 * count.
 */
export async function requeueGeneration(services: Services, lease: Lease<GenerationRow>): Promise<void> {
  await underLease(services.db, generationsTable, lease, (tx, row) =>
    requeueLocked(tx, row, { reason: '', check_at: services.clock.now(), attempt: lease.row.attempt }),
  );
}

/** Step: requeues a locked generation. */
export async function requeueLocked(
  tx: Transaction,
  row: GenerationRow,
  values: { reason: string; check_at: Date; attempt: number },
): Promise<void> {
  const waiting = { state: 'queued', step: 0, details: '{}' };
  await updateGeneration(tx, row.id, { ...waiting, ...values, lock_token: null, locked_until: null });
  await deletePreview(tx, row.id);
  await announceGeneration(tx, row, { queueMoved: true });
}

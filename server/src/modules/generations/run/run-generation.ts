import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { picturesAsked } from '@bakehouse/contract/generators/parameters/pictures-asked';
import type { Context, Services } from '../../../platform/context.ts';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { isDatabaseAway } from '../../../platform/db/errors/is-database-away.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Lease, renewLease } from '../../../platform/leases/leased-table.ts';
import { underLease } from '../../../platform/leases/under-lease.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { makeThumbnail } from '../../media/thumbnails/make-thumbnail.ts';
import { toThumbnailColumns } from '../../media/thumbnails/thumbnail-columns.ts';
import { announceGeneration } from '../announce-generation.ts';
import { endGeneration } from '../end-generation.ts';
import { deletePreview, type GenerationRow, insertOutput, updateGeneration } from '../queries.ts';
import { cancelJob } from '../services/cancel-job.ts';
import { readInput } from '../sources/read-input.ts';
import type { Attempt, Done, Generated, Picture, RunningParts, StoredPicture } from './attempt.ts';
import { checkPicture } from './check-picture.ts';
import { generateByService } from './generate-by-service.ts';
import { generationsTable } from './generations-table.ts';
import { lendLora } from './lend-lora.ts';
import { pictureRequest } from './picture-request.ts';
import { attemptOf, isFinal, planAfterFailure } from './plan-generation.ts';
import { begun, progressAfter, startingReason } from './progress.ts';
import { reachImageServer } from './reach-image-server.ts';
import { LeaseLost, reportProgress } from './report-progress.ts';

/**
 * Makes one attempt at a leased generation, and writes what came of it. Killed anywhere before the last transaction it
 * has changed nothing that counts: the lease runs out, and the picture is generated again.
 */
export async function runGeneration(parts: RunningParts, lease: Lease<GenerationRow>): Promise<void> {
  const { services, closing } = parts;
  try {
    await complete(services, lease, await generateAndStore(parts, lease));
  } catch (error) {
    if (error instanceof LeaseLost) return;
    // A submission that was not confirmed may have been paid: it is not sent again, though the process ends meanwhile.
    const isGivenBack = closing.aborted && !isFinal(error);
    await (isGivenBack ? giveBack(services, lease) : writeFailure(services, lease, error));
  }
}

/** The lease is kept until the picture is stored, however slow the store is. Throws what `generate` throws. */
async function generateAndStore(parts: RunningParts, lease: Lease<GenerationRow>): Promise<Generated> {
  const report = reportProgress(parts.services, lease);
  let counted: Promise<void> | undefined;
  using ended = linkSignals(report.lost, parts.closing);
  try {
    const isOwn = lease.row.provider === 'own';
    const keep = async (read: () => Picture) => {
      await (counted ??= countAttempt(parts.services, lease));
      return storePicture(parts.services, read(), lease.row.user_id);
    };
    const attempt = { lease, report, signal: ended.signal, keep };
    return await (isOwn ? generate(parts, attempt) : generateByService(parts, attempt));
  } finally {
    await report.stop();
  }
}

/**
 * Notes that the attempt counts: from here on the picture may be what ends the process. One that ends before, with a model
 * server or a service at work, was ended by something else. Throws LeaseLost.
 */
async function countAttempt({ db, clock }: Services, lease: Lease<GenerationRow>): Promise<void> {
  const values = { attempt: attemptOf(lease) };
  if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values }))) throw new LeaseLost();
}

async function storePicture(
  services: Services,
  { bytes, ...shown }: Picture,
  userId: string,
): Promise<StoredPicture> {
  const blob = await storeBlob(services, Readable.from([bytes]));
  return { ...shown, ...blob, thumbnail: await makeThumbnail(services, { ...shown, ...blob }, userId) };
}

/** Throws what `reachImageServer` throws, and LeaseLost. */
async function generate(
  { services, serving }: RunningParts,
  { lease: { row }, report, signal, keep }: Attempt,
): Promise<Generated> {
  let progress = begun;
  let made: { done: Done; revisionId: string | null } | null = null;
  const question = {
    modelName: row.model,
    readRequest: async (server: { workloadId: string }) => {
      const lora = await lendLora(services, row, server);
      return pictureRequest(row, (await readInput(services, row))?.bytes ?? null, lora);
    },
    signal,
    onWait: (phase: string, reason: string) =>
      report.update({ ...progress, reason: reason || startingReason(phase) }),
  };
  const asked = reachImageServer(asOwner(services, row), serving, question, (event, { revisionId }) => {
    if (event.type === 'done') made = { done: event, revisionId };
    const next = progressAfter(progress, event);
    if (next !== progress) report.update(next);
    progress = next;
  });
  await asked.catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'model_not_found' ? modelGone(row, error) : error;
  });
  if (!made) throw new Error('the model server has generated nothing');
  return toGenerated(made, progress.expert_weights, keep);
}

/** It was there when the picture was asked for. */
function modelGone({ model, queue }: GenerationRow, cause: AppError): AppError {
  const publicMessage = queue?.startsWith('deployment:')
    ? 'The deployment that was to generate it has ended'
    : `${model} is not served any more`;
  return new AppError('gone', { publicMessage, shouldRetry: false, cause });
}

async function toGenerated(
  { done, revisionId }: { done: Done; revisionId: string | null },
  expertWeights: number[][] | null,
  keep: Attempt['keep'],
): Promise<Generated> {
  const { media_type, width, height, expert_used, routing_confidence } = done;
  return {
    pictures: [await keep(() => ({ bytes: checkPicture(done), media_type, width, height }))],
    generatedBy: { revision_id: revisionId, expert_used, routing_confidence },
    expertWeights,
  };
}

/** The pictures, their price and the end of the generation are one transaction. */
async function complete(
  services: Services,
  lease: Lease<GenerationRow>,
  generated: Generated,
): Promise<void> {
  const { pictures, generatedBy, expertWeights } = generated;
  await underLease(services.db, generationsTable, lease, async (tx, row) => {
    for (const { media_type, width, height, sha256, sizeBytes, thumbnail } of pictures) {
      const file = {
        ...{ sha256, size_bytes: BigInt(sizeBytes), media_type, width, height },
        ...toThumbnailColumns(thumbnail),
      };
      await insertOutput(tx, { generation_id: row.id, user_id: row.user_id, ...file });
    }
    await updateGeneration(tx, row.id, {
      step: row.steps,
      ...generatedBy,
      expert_weights: expertWeights && toJson(expertWeights),
    });
    await endGeneration(tx, row, {
      state: 'completed',
      reason: missingReason(picturesAsked(row.parameters), pictures.length),
      // What it was quoted at, whatever the price has become, for as many as there are.
      chargedMicro: chargeFor(row, pictures.length),
      now: services.clock.now(),
    });
  });
}

/** What so many pictures cost of a generation that was quoted for all that were asked for. Pure. */
function chargeFor(
  { held_micro: heldMicro, parameters }: Pick<GenerationRow, 'held_micro' | 'parameters'>,
  pictures: number,
): bigint {
  const asked = picturesAsked(parameters);
  return (heldMicro * BigInt(Math.min(pictures, asked))) / BigInt(asked);
}

/** What is said of pictures that were asked for and did not come. Pure. */
function missingReason(asked: number, come: number): string {
  const missing = asked - come;
  if (missing <= 0) return '';
  const was = missing === 1 ? 'was' : 'were';
  return `${missing} of ${asked} pictures could not be delivered and ${was} not charged.`;
}

async function writeFailure(services: Services, lease: Lease<GenerationRow>, error: unknown): Promise<void> {
  const attempt = attemptOf(lease);
  services.log.warn({ err: error, generation_id: lease.id, attempt }, 'a picture broke off');
  const ended = await underLease(services.db, generationsTable, lease, async (tx, row) => {
    const now = services.clock.now();
    const step = planAfterFailure(
      { ...row, attempt },
      isDatabaseAway(error) ? databaseAway(error) : error,
      now,
    );
    if (step.do === 'wait')
      await putBack(tx, row, { reason: step.reason, check_at: step.at, attempt: step.attempt });
    if (step.do !== 'fail') return null;
    const { reason, refused } = step;
    await endGeneration(tx, row, { state: 'failed', reason, refused, chargedMicro: 0n, now });
    return row;
  });
  if (ended) await cancelJob(services, ended);
}

/** It is no fault of the picture, and costs it no attempt. */
function databaseAway(cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'The database did not answer',
    retryAfterMs: 0,
    cause,
  });
}

/** The process ends: another goes on at once, and this attempt does not count. */
async function giveBack(services: Services, lease: Lease<GenerationRow>): Promise<void> {
  await underLease(services.db, generationsTable, lease, (tx, row) =>
    putBack(tx, row, { reason: '', check_at: services.clock.now(), attempt: lease.row.attempt }),
  );
}

/** Step: puts a locked generation back into its queue. */
export async function putBack(
  tx: Transaction,
  row: GenerationRow,
  values: { reason: string; check_at: Date; attempt: number },
): Promise<void> {
  const waiting = { state: 'queued', step: 0, expert_weights: null };
  await updateGeneration(tx, row.id, { ...waiting, ...values, lock_token: null, locked_until: null });
  await deletePreview(tx, row.id);
  await announceGeneration(tx, row, { queueMoved: true });
}

/** A generation may do what its owner may. */
function asOwner(services: Services, { user_id: userId }: GenerationRow): Context {
  return {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    requestId: randomUUID(),
    idempotencyKey: null,
  };
}

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Context, Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { BadMedia } from '../../media/bad-media.ts';
import { ownGenerator } from '../generators/own-generators.ts';
import type { GenerationRow } from '../queries.ts';
import { readInput } from '../sources/read-input.ts';
import type { Attempt, Generated, RunningParts, StoredOutput } from './attempt.ts';
import { lendLora } from './lend-lora.ts';
import { begun, progressAfter, startingReason } from './progress.ts';
import { reachImageServer } from './reach-image-server.ts';
import type { AnswerEvent } from './read-image-events.ts';

/** Generates on this server's model server. Throws the errors of `reachImageServer`, and LeaseLost. */
export async function generateHere(
  { services, serving }: RunningParts,
  { lease: { row }, report, signal, keep }: Attempt,
): Promise<Generated> {
  let progress = begun;
  let generated: Generated | null = null;
  const question = {
    modelName: row.model,
    readRequest: async (server: { workloadId: string }) => {
      const own = ownGenerator(row.generator, row.queue);
      if (!own) throw new Error(`No local model serves ${row.generator}`);
      const lora = await lendLora(services, row, server);
      return own.request(row, { picture: (await readInput(services, row))?.bytes ?? null, lora });
    },
    signal,
    onWait: (phase: string, reason: string) =>
      report.update({ ...progress, reason: reason || startingReason(phase) }),
  };
  const take = async (event: AnswerEvent, { revisionId }: { revisionId: string | null }) => {
    if (event.type === 'done') {
      const { expert_used, routing_confidence } = event;
      const details = { ...progress.details, expert_used, routing_confidence };
      generated = { outputs: [await keepDone(event, keep)], revisionId, details };
      return;
    }
    const next = progressAfter(progress, event);
    if (next !== progress) report.update(next);
    progress = next;
  };
  await reachImageServer(asOwner(services, row), serving, question, take).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'model_not_found' ? modelGone(row, error) : error;
  });
  if (!generated) throw new Error('Model server returned no output');
  return generated;
}

async function keepDone(
  { bytes, media_type: mediaType, width, height, beside }: Extract<AnswerEvent, { bytes: unknown }>,
  keep: Attempt['keep'],
): Promise<StoredOutput> {
  try {
    return await keep({
      bytes: Readable.from(bytes, { objectMode: false }),
      declared: { mediaType, width, height },
      beside: beside.map((one) => ({
        role: one.role,
        bytes: Readable.from(one.bytes, { objectMode: false }),
      })),
    });
  } catch (cause) {
    if (!(cause instanceof BadMedia)) throw cause;
    const what = mediaType === 'video/mp4' ? 'video' : 'image';
    throw new AppError('unavailable', { publicMessage: `The ${what} was corrupted`, cause });
  }
}

/** The model existed when the picture was requested. */
function modelGone({ model, queue }: GenerationRow, cause: AppError): AppError {
  const publicMessage = queue?.startsWith('deployment:')
    ? 'The deployment that was to generate it has ended'
    : `${model} is not served any more`;
  return new AppError('gone', { publicMessage, shouldRetry: false, cause });
}

/** A generation runs with its owner's permissions. */
function asOwner(services: Services, { user_id: userId }: GenerationRow): Context {
  return {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    requestId: randomUUID(),
    idempotencyKey: null,
  };
}

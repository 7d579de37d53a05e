import { buffer } from 'node:stream/consumers';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { createImage as endpoint } from '@bakehouse/contract/images';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { awaitGeneration } from '../await-generation.ts';
import { cancelGeneration } from '../cancel-generation.ts';
import { findOutputs } from '../queries.ts';
import { refuseUndrawn } from '../refuse-undrawn.ts';
import { startGeneration } from '../start/start-generation.ts';
import { readImageBody } from './image-body.ts';

/** OpenAI's clients wait so long. */
const WAIT_MS = 10 * 60_000;

/**
 * Draws a picture as OpenAI's images API does. A client that disconnects, or has waited too long, needs it no more, unless an
 * Idempotency-Key says that he comes back for it. Throws what `startGeneration` throws, and AppError 'timed_out'.
 */
export async function createImage(
  ctx: Context,
  body: InputOf<typeof endpoint>['body'],
  { reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const client = clientSignal(reply);
  const { id } = await startGeneration(ctx, readImageBody(ctx.config, body));
  const waited = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: client });
  const isLate = waited.ended_at === null;
  // OpenAI's clients repeat a call that has timed out: without a key they would get, and pay, a second picture.
  const isLeft = isLate && ctx.idempotencyKey === null;
  const generation = isLeft ? await cancelGeneration(ctx, { id }) : waited;
  if (isLate && generation.state !== 'completed') throw timedOut(generation);
  refuseUndrawn(generation);
  return {
    created: Math.floor(Date.parse(generation.created_at) / 1000),
    data: await readData(ctx, generation, body.response_format ?? 'url'),
  };
}

function timedOut({ id, state }: Generation): AppError {
  return new AppError('timed_out', {
    publicMessage:
      state === 'cancelled'
        ? 'The picture was not done in time, and was cancelled. Nothing was charged'
        : `The picture is not done yet. GET /api/v1/generations/${id} shows it once it is`,
  });
}

async function readData(
  ctx: Context,
  { id, outputs }: Generation,
  format: 'url' | 'b64_json',
): Promise<ResponseOf<typeof endpoint>['data']> {
  if (format === 'url') return outputs.map(({ url }) => ({ url: new URL(url, ctx.config.publicUrl).href }));
  const stored = (await findOutputs(ctx.db, [id])).get(id) ?? [];
  return Promise.all(
    stored.map(async ({ sha256 }) => ({
      b64_json: (await buffer(await readBlob(ctx, { sha256, path: `generation ${id}` }))).toString('base64'),
    })),
  );
}

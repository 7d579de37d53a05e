import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { awaitGeneration } from '../await-generation.ts';
import { cancelGeneration } from '../cancel-generation.ts';
import { refuseUndrawn } from '../refuse-undrawn.ts';
import { type Asked, startGeneration } from './start-generation.ts';

/** OpenAI's clients wait so long. */
const WAIT_MS = 10 * 60_000;

/**
 * Asks for a picture and waits until it is drawn. A client that disconnects, or has waited too long, needs it no more, unless
 * an Idempotency-Key says that he comes back for it. Throws what `startGeneration` and `refuseUndrawn` throw, and AppError
 * 'timed_out'.
 */
export async function startAndAwait(
  ctx: Context,
  usage: IdleCredit,
  asked: Asked,
  reply: Http['reply'],
): Promise<Generation> {
  const client = clientSignal(reply);
  const { id } = await startGeneration(ctx, usage, asked);
  const waited = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: client });
  const isLate = waited.ended_at === null;
  // OpenAI's clients repeat a call that has timed out: without a key they would get, and pay, a second picture.
  const isLeft = isLate && ctx.idempotencyKey === null;
  const generation = isLeft ? await cancelGeneration(ctx, { id }) : waited;
  if (isLate && generation.state !== 'completed') throw timedOut(generation);
  refuseUndrawn(generation);
  return generation;
}

function timedOut({ id, state }: Generation): AppError {
  return new AppError('timed_out', {
    publicMessage:
      state === 'cancelled'
        ? 'The picture was not done in time, and was cancelled. Nothing was charged'
        : `The picture is not done yet. GET /api/v1/generations/${id} shows it once it is`,
  });
}

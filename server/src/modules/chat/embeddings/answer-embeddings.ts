import { randomUUID } from 'node:crypto';
import type { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { untilKeyEnds } from '../../../platform/http/callers/until-key-ends.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import type { Price } from '../../credits/prices/prices.ts';
import { findModel } from '../../deployments/reach/find-model.ts';
import { keepInUse } from '../../deployments/reach/keep-in-use.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { ONE_PIECE_MS_MAX, requestDeadline } from '../../serving/ask/request-deadline.ts';
import { admitRequest, RETRY_AFTER_S } from '../admit-request.ts';
import type { ChatParts } from '../chat-parts.ts';
import { recordRequest } from '../requests/record-request.ts';
import { type Asking, askBatch } from './ask-batch.ts';
import { checkDimensions } from './check-dimensions.ts';
import { longestFirst, toBatches, toInputs, tokensMax } from './embedding-inputs.ts';
import { refuseLargeAnswer } from './refuse-large-answer.ts';
import { shorten, toNumbers } from './vectors.ts';

type Input = InputOf<typeof createEmbeddings>;

/**
 * The vectors of texts. What they can cost at most is reserved first in a usage window; what they did cost is settled there
 * after: nothing where the request fails, and where its client leaves or an input is refused what was computed until then.
 */
export async function answerEmbeddings(
  ctx: Context,
  parts: ChatParts,
  { body }: Input,
  { reply }: Http,
): Promise<ResponseOf<typeof createEmbeddings>> {
  const client = clientSignal(reply);
  const began = { at: ctx.clock.now(), ms: performance.now() };
  const leave = admit(ctx, reply);
  const deadline = requestDeadline(body.model, 'embedding', {
    closing: ctx.closing,
    inAllMs: ONE_PIECE_MS_MAX,
  });
  const key = untilKeyEnds(ctx);
  try {
    const upstream = await findModel(ctx, parts, { modelName: body.model, kind: 'embedding' });
    await checkDimensions(ctx, upstream, body.dimensions);
    const inputs = toInputs(body.input);
    const price = (await parts.recallPrices())[`embedding_tokens:${upstream.accelerator ? 'GPU' : 'CPU'}`];
    const reservation = await reserve(ctx, parts, upstream, { price, tokens: tokensMax(inputs, upstream.context_tokens) });
    const outcome = { ok: false, tokens: 0 };
    let endUse = () => {};
    try {
      client.throwIfAborted();
      endUse = keepInUse(ctx, upstream);
      const signal = AbortSignal.any([client, deadline.signal, key.signal]);
      const asking: Asking = { upstream, signal, deadline, isOne: inputs.length === 1 };
      const vectors: Buffer[] = [];
      for (const batch of longestFirst(toBatches(inputs))) {
        const found = await askBatch(ctx, parts, asking, batch);
        outcome.tokens += found.tokens;
        refuseLargeAnswer(body, { count: inputs.length, vector: found.vectors[0] });
        for (const [index, vector] of found.vectors.entries()) vectors[batch.start + index] = vector;
      }
      outcome.ok = true;
      return toAnswer(body, upstream.model_name, { vectors, tokens: outcome.tokens });
    } catch (error) {
      // Who leaves has not met an error, and pays for what was computed; as who sent an input among others that is refused.
      outcome.ok = client.aborted;
      if (!client.aborted && !isCallers(error)) outcome.tokens = 0;
      if (client.aborted) throw new AppError('unavailable', { publicMessage: 'The client has left' });
      throw key.signal.aborted ? key.signal.reason : deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      endUse();
      await recordRequest(
        ctx,
        parts,
        { upstream, reservation, prices: { prompt: price, completion: price } },
        {
          ...{ id: randomUUID(), at: began.at, ok: outcome.ok },
          usage: { promptTokens: outcome.tokens, completionTokens: 0 },
          firstTokenMs: null,
          totalMs: Math.round(performance.now() - began.ms),
        },
      );
    }
  } finally {
    key.stop();
    deadline.stop();
    leave();
  }
}

function isCallers(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === 'invalid_request' || error.code === 'context_length_exceeded')
  );
}

function admit(ctx: Context, reply: Http['reply']): () => void {
  try {
    return admitRequest(ctx, ctx.caller.userId);
  } catch (error) {
    reply.header('retry-after', RETRY_AFTER_S);
    throw error;
  }
}

async function reserve(
  { caller }: Context,
  { usage }: ChatParts,
  upstream: Upstream<'embedding'>,
  { price, tokens }: { price: Price; tokens: number },
) {
  return usage.reserve({
    userId: caller.userId,
    keyId: caller.key?.id ?? null,
    use: 'llm_inference',
    source: upstream.pod_id === null ? `model:${upstream.model_name}` : `deployment:${upstream.pod_id}`,
    description: `Tokens of ${upstream.model_name}`,
    references: {
      asset_name: upstream.model_name,
      ...(upstream.pod_id && { pod_id: upstream.pod_id }),
    },
    unitPrices: [price.unitPriceMicro],
    priceMicro: costMicro([{ price, parts: BigInt(tokens) }]),
  });
}

function toAnswer(
  { dimensions, encoding_format: format }: Input['body'],
  model: string,
  { vectors, tokens }: { vectors: Buffer[]; tokens: number },
): ResponseOf<typeof createEmbeddings> {
  const data = vectors.map((vector, index) => {
    const sized = dimensions && dimensions * 4 < vector.length ? shorten(vector, dimensions) : vector;
    const embedding = format === 'base64' ? sized.toString('base64') : toNumbers(sized);
    return { object: 'embedding' as const, index, embedding };
  });
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

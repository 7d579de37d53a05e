import type { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { ONE_PIECE_MS_MAX } from '../../serving/ask/request-deadline.ts';
import { callModel, type RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { askBatch } from './ask-batch.ts';
import { checkDimensions } from './check-dimensions.ts';
import { type EmbeddingInputs, longestFirst, toBatches, toInputs, tokensMax } from './embedding-inputs.ts';
import { refuseLargeAnswer } from './refuse-large-answer.ts';
import { shorten, toNumbers } from './vectors.ts';

type Input = InputOf<typeof createEmbeddings>;

/**
 * Returns the vectors of texts. Computed vectors are charged if the client disconnects or an input is
 * rejected; a request that fails otherwise is free.
 */
export function answerEmbeddings(
  ctx: Context,
  parts: ChatParts,
  { body }: Input,
  { reply }: Http,
): Promise<ResponseOf<typeof createEmbeddings>> {
  return callModel(ctx, parts, {
    ...{ modelName: body.model, kind: 'embedding' as const },
    ...{ client: clientSignal(reply), inAllMs: ONE_PIECE_MS_MAX },
    prepare: async (upstream, priceList) => {
      await checkDimensions(ctx, upstream, body.dimensions);
      const inputs = toInputs(body.input);
      const price = priceList[`embedding_tokens:${upstream.accelerator ? 'GPU' : 'CPU'}`];
      return {
        quote: {
          prices: { prompt: price, completion: price },
          reservedMicro: costMicro([{ price, parts: BigInt(tokensMax(inputs, upstream.context_tokens)) }]),
        },
        run: async (call) => {
          const vectors = await ask(ctx, parts, call, { body, inputs });
          const answer = { vectors, tokens: call.used.usage.promptTokens };
          return toAnswer(body, upstream.model_name, answer);
        },
      };
    },
  });
}

async function ask(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall<'embedding'>,
  { body, inputs }: { body: Input['body']; inputs: EmbeddingInputs },
): Promise<Buffer[]> {
  const vectors: Buffer[] = [];
  const isOne = inputs.length === 1;
  for (const batch of longestFirst(toBatches(inputs))) {
    const found = await askBatch(ctx, parts, call, { ...batch, isOne });
    const { promptTokens } = call.used.usage;
    call.used.usage = { promptTokens: promptTokens + found.tokens, completionTokens: 0 };
    refuseLargeAnswer(body, { count: inputs.length, vector: found.vectors[0] });
    for (const [index, vector] of found.vectors.entries()) vectors[batch.start + index] = vector;
  }
  return vectors;
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

import { setTimeout as pause } from 'node:timers/promises';
import type { BatchEndpoint } from '@bakehouse/contract/batches';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import type { Context, Services } from '../../platform/context.ts';
import { storableJson } from '../../platform/db/storable-text.ts';
import { AppError } from '../../platform/errors.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import { completeChat } from '../chat/answer-completion.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { answerEmbeddings } from '../chat/embeddings/answer-embeddings.ts';
import { createResponse } from '../chat/responses/create-response.ts';
import { findModel } from '../deployments/reach/find-model.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { findFineTune } from '../models/fine-tuned/fine-tuned.ts';
import { withAgreedPrices } from './batch-prices.ts';
import type { BatchRow } from './bulk-table.ts';
import type { BatchAnswer, BatchRequest } from './queries.ts';
import { parseBody, type RequestBody } from './request-bodies.ts';

/** Maximum attempts if a model server is temporarily unavailable. */
const TRIES = 3;

const PAUSE_MS = 2_000;

/** The fields of a batch, or of other background work, that answering a request needs. */
type Answered = Pick<BatchRow, 'id' | 'user_id' | 'endpoint' | 'prices'>;

type Asked = { batch: Answered; request: BatchRequest; signal: AbortSignal };

/**
 * Returns the answer to one request of a batch, through the same code as the user's own calls, and its cost
 * at the batch's prices. Does not charge: the caller charges when it stores the answer. If the request is
 * rejected, returns the error as its answer. Throws if `signal` is aborted or the process is shutting down.
 */
export async function answerRequest(
  services: Services,
  chat: ChatParts,
  { batch, request, signal }: Asked,
): Promise<BatchAnswer> {
  const requestId = `${batch.id}-${request.number}`;
  const caller = { kind: 'user' as const, userId: batch.user_id, isOperator: false };
  const ctx: Context = { ...services, caller, requestId, idempotencyKey: null };
  const toAnswer = (status: number, body: unknown, costMicro: bigint) => ({
    number: request.number,
    answer: storableJson({
      id: `batch_req_${batch.id.replaceAll('-', '')}_${request.number}`,
      custom_id: request.customId,
      response: { status_code: status, request_id: requestId, body },
      error: null,
    }),
    isError: status !== 200,
    costMicro,
  });
  const asked = parseBody(batch.endpoint, request.body);
  for (let tried = 1; ; tried += 1) {
    const bill = { micro: 0n };
    try {
      const body = await requestAnswer(ctx, billedTo(chat, batch, bill), asked, signal);
      // Discard the answer if the batch was cancelled while the model answered.
      signal.throwIfAborted();
      return toAnswer(200, body, bill.micro);
    } catch (error) {
      signal.throwIfAborted();
      services.closing.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      const mayHelp = error.status >= 500 || error.code === 'rate_limited';
      if (!mayHelp || tried === TRIES)
        return toAnswer(error.status, toErrorBody(error, requestId), bill.micro);
      await pause(PAUSE_MS, undefined, { signal });
    }
  }
}

/**
 * Returns the chat services with the batch's prices, and with a reservation that records the cost instead of
 * charging it.
 */
function billedTo(chat: ChatParts, batch: Answered, bill: { micro: bigint }): ChatParts {
  return {
    ...chat,
    recallPrices: async () => withAgreedPrices(await chat.recallPrices(), batch.prices),
    usage: {
      closeIdle: (userId) => chat.usage.closeIdle(userId),
      reserve: async ({ priceMicro }) => {
        let reservedMicro = priceMicro;
        return {
          windowId: batch.id,
          get priceMicro() {
            return reservedMicro;
          },
          // Nothing to reserve: the batch's hold covers the maximum cost of every request.
          extend: async (toMicro) => {
            reservedMicro = toMicro;
          },
          settle: (used) => {
            bill.micro = used?.amountMicro ?? 0n;
          },
        };
      },
    },
  };
}

/** Sends the request to its endpoint. Aborting `signal` has the same effect as a client that disconnects. */
async function requestAnswer(
  ctx: Context,
  parts: ChatParts,
  asked: RequestBody,
  signal: AbortSignal,
): Promise<unknown> {
  const none = { params: undefined, query: undefined };
  if (asked.endpoint === '/v1/embeddings')
    return answerEmbeddings(ctx, parts, { ...none, body: asked.body }, signal);
  const { body } =
    asked.endpoint === '/v1/responses'
      ? await createResponse(ctx, parts, { ...none, body: { ...asked.body, store: false } }, signal)
      : await completeChat(ctx, parts, { path: asked.endpoint, body: asked.body }, signal);
  return body;
}

/**
 * Returns the model's server. Called when a batch starts, so that an unknown model name is rejected
 * immediately.
 */
export async function findUpstreamOf(
  ctx: Context,
  chat: ChatParts,
  { url, model }: { url: BatchEndpoint; model: string },
): Promise<Pick<Upstream, 'accelerator' | 'context_tokens'>> {
  const kind = url === '/v1/embeddings' ? 'embedding' : 'text';
  const fineTune = await findFineTune(ctx.db, { userId: ctx.caller.userId, name: model });
  // The first request will deploy the model, on a GPU or a CPU. Assume the GPU, because its price is higher.
  if (fineTune && kind === 'text') return { accelerator: 'GPU', context_tokens: DEFAULT_CONTEXT_TOKENS };
  return findModel(ctx, chat, { modelName: model, kind });
}

import { randomUUID } from 'node:crypto';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { watchKey } from '../../platform/http/callers/key-ends.ts';
import { isCreditExhausted } from '../billing/ledger/holds/holds.ts';
import type { PriceList } from '../billing/prices/prices.ts';
import type { Reservation } from '../billing/usage/usage-leader.ts';
import { findModel } from '../deployments/reach/find-model.ts';
import { findTextModel } from '../deployments/reach/find-text-model.ts';
import { markInUse } from '../deployments/reach/mark-in-use.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { type RequestDeadline, requestDeadline } from '../serving/ask/request-deadline.ts';
import type { ServerKindName } from '../serving/server-kinds.ts';
import { admitRequest } from './admit-request.ts';
import type { ChatParts } from './chat-parts.ts';
import type { Usage } from './completion-stream.ts';
import { recordRequest } from './requests/requests.ts';
import type { TokenPrices } from './token-prices.ts';

type Kind = Extract<ServerKindName, 'text' | 'embedding'>;

export type RunningCall<K extends Kind = 'text'> = {
  upstream: Upstream<K>;
  /** Aborted when the client disconnects, the deadline passes, the API key ends or this server shuts down. */
  signal: AbortSignal;
  deadline: RequestDeadline;
  /** Arrival time, by `performance.now()`. */
  beganMs: number;
  /** The current usage. A charged call costs this usage, even if it ends early. */
  used: { usage: Usage; firstTokenMs: number | null };
  /**
   * Raises the reserved amount to this price. If it throws AppError 'insufficient_funds' or
   * 'budget_exceeded', the call ends and is charged for its usage.
   */
  extend: (priceMicro: bigint) => Promise<void>;
};

/** A validated call. */
export type PreparedCall<K extends Kind, Answer> = {
  /** The prices and the amount to reserve. Null for a free call, which is not recorded. */
  quote: { prices: TokenPrices; reservedMicro: bigint } | null;
  run: (call: RunningCall<K>) => Promise<Answer>;
};

type ModelCall<K extends Kind, Answer> = {
  modelName: string;
  kind: K;
  /** Aborted when the client disconnects. */
  client: AbortSignal;
  inAllMs: number;
  /**
   * Validates the request after the user was admitted and the model was found. A request that throws here is
   * free.
   */
  prepare: (upstream: Upstream<K>, prices: PriceList) => Promise<PreparedCall<K, Answer>>;
};

const NOTHING: Usage = { promptTokens: 0, completionTokens: 0 };

/**
 * Runs a model call of any kind: admits the user, finds the model, reserves the maximum cost in a usage
 * window, runs the call, settles its usage and records the request. A failed call is charged for its usage if
 * the caller caused the failure: the client disconnected, the API key ended, time or credit ran out during
 * the answer, or one input was rejected after others had been computed. All other failed calls are free.
 */
export async function callModel<K extends Kind, Answer>(
  ctx: Context,
  parts: ChatParts,
  { modelName, kind, client, inAllMs, prepare }: ModelCall<K, Answer>,
): Promise<Answer> {
  const began = { at: ctx.clock.now(), ms: performance.now() };
  const leave = admitRequest(ctx, ctx.caller.userId);
  const deadline = requestDeadline(modelName, kind, { closing: ctx.closing, inAllMs });
  const key = watchKey(ctx);
  try {
    const upstream = await parts.recallUpstream(ctx.caller.userId, { modelName, kind }, () =>
      findAsked(ctx, parts, { modelName, kind }),
    );
    const { quote, run } = await prepare(upstream, await parts.recallPrices());
    const reservation = quote && (await reserve(ctx, parts, upstream, quote));
    const used: RunningCall['used'] = { usage: NOTHING, firstTokenMs: null };
    let ok = false;
    let endUse = () => {};
    try {
      client.throwIfAborted();
      endUse = markInUse(ctx, upstream);
      const signal = AbortSignal.any([client, deadline.signal, key.signal]);
      const extend = async (priceMicro: bigint) => reservation?.extend(priceMicro);
      const answer = await run({ upstream, signal, deadline, beganMs: began.ms, used, extend });
      ok = true;
      return answer;
    } catch (error) {
      // A client that disconnects has not received an error, so record the call as successful.
      ok = client.aborted;
      if (ok) throw client.reason;
      const isOurs = !(deadline.signal.aborted || key.signal.aborted) || deadline.isOurs();
      const isCharged =
        isRefusal(error) || isCreditExhausted(error) || (!isOurs && used.usage.completionTokens > 0);
      if (!isCharged) used.usage = NOTHING;
      throw key.signal.aborted ? key.signal.reason : deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      endUse();
      const totalMs = Math.round(performance.now() - began.ms);
      if (quote && reservation)
        // The charge is complete; only the record is written in the background, without delaying the answer.
        recordRequest(
          ctx,
          parts,
          { upstream, reservation, prices: quote.prices },
          { id: randomUUID(), at: began.at, ok, totalMs, ...used },
        ).catch((error: unknown) => ctx.log.error({ err: error }, 'failed to record model call'));
    }
  } finally {
    key.stop();
    deadline.stop();
    leave();
  }
}

/** A text model may also be a fine-tune, requested by its own name. */
function findAsked<K extends Kind>(
  ctx: Context,
  parts: ChatParts,
  { modelName, kind }: { modelName: string; kind: K },
): Promise<Upstream<K>> {
  if (kind === 'text') return findTextModel(ctx, parts, modelName);
  return findModel(ctx, parts, { modelName, kind });
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === 'invalid_request' || error.code === 'context_length_exceeded')
  );
}

function reserve(
  { caller }: Context,
  { usage }: ChatParts,
  { pod_id: podId, model_name: modelName }: Upstream<Kind>,
  { prices, reservedMicro }: { prices: TokenPrices; reservedMicro: bigint },
): Promise<Reservation> {
  return usage.reserve({
    userId: caller.userId,
    keyId: caller.key?.id ?? null,
    use: 'llm_inference',
    source: podId === null ? `model:${modelName}` : `deployment:${podId}`,
    description: `Tokens of ${modelName}`,
    references: { asset_name: modelName, ...(podId && { pod_id: podId }) },
    unitPrices: [prices.prompt.unitPriceMicro, prices.completion.unitPriceMicro],
    priceMicro: reservedMicro,
  });
}

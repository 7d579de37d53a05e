import { createHash, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { type AppError, invalidParam, tooMany } from '../../../platform/errors.ts';
import { assertStorageLeft } from '../../assets/files/storage-quota.ts';
import { hold } from '../../billing/ledger/holds/holds.ts';
import { assertQuotedCost } from '../../billing/prices/cost.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { spendOnce } from '../../billing/spend-once.ts';
import type { IdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { announceGeneration } from '../announce-generation.ts';
import { showGenerations } from '../generations.ts';
import { localGenerator } from '../generators/local-generators.ts';
import { mediumOf } from '../media-table.ts';
import {
  claimAbandonedGeneration,
  countOpen,
  type GenerationRow,
  insertGeneration,
  listProcessesWithWaitingCalls,
  lockStarts,
  nextId,
  type SameRequest,
  updateGeneration,
} from '../queries.ts';
import { WAIT_MAX_MS } from '../run/plan-generation.ts';
import { attachInputPicture } from '../sources/picture-queries.ts';
import { readMask, readSource, type Source, savePicture } from '../sources/sources.ts';
import { type ChosenProvider, chooseProvider } from './choose-provider.ts';
import { costOfGeneration } from './cost-of-generation.ts';
import type { GenerationRequest } from './generation-request.ts';
import { assertLoraSupported, chooseLora, readParameters } from './parameters.ts';

/** Waiting and running generations per user. */
const OPEN_MAX = 8;

/** Retry-after for a user with too many open generations. */
const RETRY_AFTER_MS = 5_000;

/** Seeds are below this; the largest seed that a model accepts is one less. */
const SEEDS = 2 ** 32;

/** The hold must last longer than the longest generation. */
const HOLD_MS = WAIT_MAX_MS + 24 * 60 * 60 * 1000;

/**
 * Header with the number of retries. OpenAI's clients send it, but by default they send no Idempotency-Key.
 */
const RETRY_COUNT = 'x-stainless-retry-count';

/**
 * How long after a disconnect a call counts as repeated. OpenAI's clients pause for at most eight seconds.
 */
const REPEAT_MS = 30_000;

const CHECK_EVERY_MS = 250;

/** A call for a picture. */
export type PictureCall = {
  /** The request as received; identifies a repeated call with the same Idempotency-Key. */
  sent: object;
  /**
   * Resolves the request. It is called only for the first of repeated calls: by the next one, a deployment
   * may have ended or an address may be dead.
   */
  read: () => Promise<GenerationRequest>;
};

/** Returns an existing generation of an identical request, to use it instead of a new one. */
export type Joins = (tx: Transaction, same: SameRequest) => Promise<GenerationRow | undefined>;

type Options = {
  joins?: Joins | undefined;
  /**
   * True if the client waits for the picture in this process, and may repeat the call without an
   * Idempotency-Key.
   */
  waitsHere?: boolean | undefined;
  /** The highest price that the caller accepts, i.e. the quoted one. */
  costMaxMicro?: bigint | undefined;
};

/**
 * Starts a generation: holds its price and queues it. Missing parameters get their defaults. Throws the
 * errors of the call's `read`, `chooseLora` and `readSource`, and AppError 'invalid_request', 'conflict' if
 * nothing serves it here or it costs more than allowed, 'payload_too_large' beyond the user's quota,
 * 'rate_limited', 'insufficient_funds', 'budget_exceeded' or 'idempotency_conflict'.
 */
export async function startGeneration(
  ctx: Context,
  usage: IdleCredit,
  { sent, read }: PictureCall,
  { joins, waitsHere, costMaxMicro }: Options = {},
): Promise<Generation> {
  const { userId } = ctx.caller;
  return spendOnce(
    ctx,
    usage,
    { operation: 'start-generation', input: sent },
    async () => {
      // Reject the call before its picture is stored. With `joins`, the call may return an open generation,
      // and it has no picture.
      if (!joins && (await countOpen(ctx.db, userId)) >= OPEN_MAX) throw tooManyOpen();
      return prepare(ctx, await read());
    },
    async (tx, { chosen, asked, loraRevisionId }) => {
      // Calls of the same user run one at a time from here, so that the second of two identical calls finds
      // the generation of the first.
      await lockStarts(tx, userId);
      const open = await countOpen(tx, userId);
      const joined = await joins?.(tx, { userId, requestSha256: hashRequest(asked) });
      if (joined) return show(ctx, tx, joined);
      if (open >= OPEN_MAX) throw tooManyOpen();
      const { form } = chosen;
      const source = asked.source ?? (await readSource(tx, { userId, form, ...asked }));
      const mask = await readMask(tx, { userId, form, ...asked }, source);
      const row = await insert(
        tx,
        ctx,
        { ...asked, source, mask },
        {
          ...{ chosen, loraRevisionId, waitsHere, costMaxMicro },
        },
      );
      const shown = await show(ctx, tx, row);
      // Lock the ledger last: it blocks the user's other calls.
      await holdPrice(tx, row, chosen.form);
      return shown;
    },
  );
}

type Prepared = { chosen: ChosenProvider; asked: GenerationRequest; loraRevisionId: string | null };

/** Resolves the provider and all parameters. */
async function prepare(ctx: Context, { parameters: given, ...rest }: GenerationRequest): Promise<Prepared> {
  const chosen = await chooseProvider(ctx, rest);
  assertLoraSupported(chosen, given);
  const parameters = readParameters(chosen.form, given);
  assertAcceptedByService(chosen, parameters);
  const loraRevisionId = await chooseLora(ctx, parameters);
  return { chosen, asked: { ...rest, parameters }, loraRevisionId };
}

async function show(ctx: Context, tx: Transaction, row: GenerationRow): Promise<Generation> {
  const [shown] = await showGenerations(ctx, tx, [row]);
  if (!shown) throw new Error('showGenerations returned no row');
  return shown;
}

async function insert(
  tx: Transaction,
  ctx: Context,
  asked: GenerationRequest,
  { chosen, loraRevisionId, waitsHere, costMaxMicro }: Omit<Prepared, 'asked'> & Omit<Options, 'joins'>,
): Promise<GenerationRow> {
  const { userId, key } = ctx.caller;
  const now = ctx.clock.now();
  const id = await nextId(tx);
  const { provider, model, queue } = chosen;
  const { noun } = mediumOf(asked.generator);
  const heldMicro = costOfGeneration(await readPrices(tx, now), chosen, asked);
  assertQuotedCost({ micro: heldMicro, maxMicro: costMaxMicro, what: `this ${noun}`, param: 'cost_max' });
  const parameters = withSeed(chosen, asked.parameters);
  const { source, mask } = asked;
  await assertStorageLeft(tx, ctx.config, userId);
  // Lock the stored bytes before the ledger (see the lock order in queries.ts).
  const inputs = [
    { role: 'source', id: await savedId(tx, ctx, source) },
    { role: 'mask', id: await savedId(tx, ctx, mask) },
  ] as const;
  const row = await insertGeneration(tx, {
    ...{ id, user_id: userId, key_id: key?.id ?? null, model, queue },
    ...{ generator: asked.generator, provider, prompt: asked.prompt },
    parameters: toJson(parameters),
    lora_revision_id: loraRevisionId,
    seed: seedOf(chosen, parameters),
    source_generation_id: source?.generationId ?? null,
    source_output_id: source?.outputId ?? null,
    root_generation_id: source?.rootId ?? null,
    request_sha256: hashRequest(asked),
    process_id: waitsHere ? ctx.processId : null,
    // Services report no steps.
    steps: provider === 'own' ? (localGenerator(asked.generator, queue)?.steps(parameters) ?? 0) : 0,
    asked: asked.asked ? toJson(asked.asked) : null,
    // Placeholder until `holdPrice` sets it in this transaction.
    hold_id: id,
    held_micro: heldMicro,
    check_at: now,
    created_at: now,
  });
  for (const { role, id: inputId } of inputs)
    if (inputId !== undefined) await attachInputPicture(tx, { id: inputId, generationId: id, role });
  await announceGeneration(tx, row, { queueMoved: true });
  return row;
}

/** Returns the id of the caller's own row of an input picture. */
async function savedId(tx: Transaction, ctx: Context, input: Source | undefined) {
  return input && (input.inputId ?? (await savePicture(tx, ctx, input)));
}

async function holdPrice(
  tx: Transaction,
  {
    id,
    user_id: userId,
    key_id: keyId,
    held_micro: amountMicro,
    created_at: createdAt,
    generator,
  }: GenerationRow,
  { title }: ChosenProvider['form'],
): Promise<void> {
  const medium = mediumOf(generator);
  const { holdId } = await hold(tx, {
    userId,
    amountMicro,
    kind: medium.use,
    description: `${medium.title} by ${title}`,
    references: { asset_name: title, generation_id: id, ...(keyId && { key_id: keyId }) },
    expiresAt: new Date(createdAt.getTime() + HOLD_MS),
    idempotencyKey: `generation:${id}`,
  });
  await updateGeneration(tx, id, { hold_id: holdId });
}

/** Returns the same hash for identical requests. A seed counts only if the caller chose it. */
function hashRequest(asked: GenerationRequest): string {
  const parameters = Object.entries(asked.parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([
    asked.generator,
    asked.prompt,
    parameters,
    asked.source?.picture.sha256,
    asked.model,
    ...(asked.mask ? [{ mask: asked.mask.picture.sha256 }] : []),
    ...(asked.service === undefined ? [] : [asked.service]),
  ]);
  return createHash('sha256').update(text).digest('hex');
}

/** Models on this server always get a seed, even if the form has no such field. */
function seedOf({ provider }: ChosenProvider, { seed }: GenerationParameters): bigint | null {
  if (seed !== undefined) return BigInt(Number(seed));
  return provider === 'own' ? BigInt(randomInt(SEEDS)) : null;
}

/** Throws if a service would reject a combination of individually valid parameters. */
function assertAcceptedByService(chosen: ChosenProvider, parameters: GenerationParameters): void {
  const problem = chosen.provider === 'upstream' ? chosen.upstream.problem?.(parameters) : null;
  if (problem) throw invalidParam(`parameters.${problem.field}`, problem.message);
}

/** Chooses a seed if the model accepts one, so that the same picture can be requested again. */
function withSeed({ form }: ChosenProvider, parameters: GenerationParameters): GenerationParameters {
  const field = form.fields.find(({ kind }) => kind === 'seed');
  if (field?.kind !== 'seed') return parameters;
  return { ...parameters, seed: parameters.seed ?? randomInt(field.max + 1) };
}

function tooManyOpen(): AppError {
  return tooMany(`You can have at most ${OPEN_MAX} pictures and videos queued or generating at once.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

type Asking = Pick<Context, 'db' | 'clock' | 'idempotencyKey' | 'caller' | 'processId'>;

/**
 * Returns a function that finds the picture of an earlier try of the same call, if that try ended without a
 * response. OpenAI's clients repeat a call after a timeout (in Node after five minutes without headers) or a
 * lost connection. Without this, each retry would pay for another picture, because a service charges for
 * every started job. It never returns a picture that another client waits for or has received. With an
 * Idempotency-Key it is not needed.
 */
export async function findRepeatedCall(
  asking: Asking,
  { headers }: Pick<FastifyRequest, 'headers'>,
): Promise<{ joins?: Joins; waitsHere: boolean }> {
  const { clock, idempotencyKey, caller, processId } = asking;
  if (idempotencyKey !== null) return { waitsHere: false };
  if (!(Number(headers[RETRY_COUNT]) > 0)) return { waitsHere: true };
  await untilOthersAreSeen(asking);
  const asked = { keyId: caller.key?.id ?? null, processId, withinMs: REPEAT_MS };
  return {
    waitsHere: true,
    joins: (tx, same) => claimAbandonedGeneration(tx, { ...same, ...asked, now: clock.now() }),
  };
}

/**
 * Waits until each other process with waiting calls of this API key has sent a heartbeat or counts as dead. A
 * heartbeat means that the process has recorded its disconnected clients.
 */
async function untilOthersAreSeen({ db, caller, processId }: Asking): Promise<void> {
  const list = () =>
    listProcessesWithWaitingCalls(db, { userId: caller.userId, keyId: caller.key?.id ?? null, processId });
  const unseen = await list();
  while (unseen.size > 0) {
    await pause(CHECK_EVERY_MS);
    const seen = await list();
    for (const [id, at] of unseen) if (seen.get(id) !== at) unseen.delete(id);
  }
}

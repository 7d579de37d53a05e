import { finished, type Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { parseBgl } from '@bakehouse/contract/money';
import type {
  askAsVisitor as askAsVisitorEndpoint,
  getVisitorTries as getVisitorTriesEndpoint,
  VisitorTryState,
} from '@bakehouse/contract/visitors';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import type { Caller, Context, Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError, conflict, tooMany } from '../../platform/errors.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { ensureSystemUser, systemUserId } from '../accounts/users.ts';
import { grantGivenCredits } from '../billing/ledger/given-credits.ts';
import { openUserAccount } from '../billing/ledger/open-user-account.ts';
import { completeChat } from '../chat/answer-completion.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { listStarterModels, starterLanguageModel } from '../models/starter/starters.ts';

/** The system account that owns the visitors' generations until a user claims them. */
export const VISITORS = systemUserId('visitors');

const RETRY_AFTER_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum open questions in this process, in total and per network. One network cannot fill the queue. */
const OPEN_MAX = 8;

const OPEN_MAX_PER_NETWORK = 2;
const ANSWER_TOKENS_MAX = 200;
const open = openByKey();

/**
 * Answers one visitor at a time, so that users wait for at most one visitor. Networks are served round-robin.
 */
const turns = fairQueue(1);

/**
 * Grants the visitors' account the budget of today (UTC), once per day. Unused credits expire at midnight.
 * Throws AppError 'conflict' if visitor access is disabled.
 */
export async function grantDailyBudget({
  db,
  clock,
  config,
}: Pick<Services, 'db' | 'clock' | 'config'>): Promise<void> {
  const amountMicro = parseBgl(config.visitorBudgetBgl);
  if (amountMicro === 0n) throw conflict('Sign up to try it: this server has no trials without an account');
  const day = clock.now().toISOString().slice(0, 10);
  await inTransaction(db, async (tx) => {
    await ensureSystemUser(tx, { id: VISITORS, name: 'Visitors' });
    await openUserAccount(tx, { userId: VISITORS, grantMicro: 0n });
    await grantGivenCredits(tx, {
      userId: VISITORS,
      amountMicro,
      description: `Tries without an account on ${day}`,
      idempotencyKey: `visitors:${day}`,
      sendable: false,
      expiresAt: new Date(Date.parse(day) + DAY_MS),
    }).catch(unlessGivenBefore);
  });
}

/** Ignores that today's budget was granted with another amount: a changed setting applies from tomorrow. */
function unlessGivenBefore(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'idempotency_conflict')) throw error;
}

/**
 * Returns the answer of the starter language model, as a streamed chat completion at the installation's
 * expense. Throws the errors of `grantDailyBudget` and `completeChat`, and AppError 'rate_limited' if too
 * many questions are open or today's budget is used up.
 */
export async function answerVisitor(
  ctx: Context<Caller>,
  parts: ChatParts,
  { body: asked }: InputOf<typeof askAsVisitorEndpoint>,
  { network, client }: { network: string; client: AbortSignal },
): Promise<Answer> {
  const leave = open.all() < OPEN_MAX ? open.enter(network, OPEN_MAX_PER_NETWORK) : null;
  if (!leave) throw visitorsBusyError();
  let endTurn = () => undefined as void;
  const end = () => {
    endTurn();
    leave();
  };
  try {
    await grantDailyBudget(ctx);
    const messages = [...asked.turns, { role: 'user', content: asked.question }];
    const { slug: model } = starterLanguageModel;
    const body = { model, messages, max_tokens: ANSWER_TOKENS_MAX, temperature: 0, stream: true };
    const answer = await withVisitorErrors(async () => {
      endTurn = await turns.enter(network, client);
      return completeChat(asVisitor(ctx), parts, { path: '/v1/chat/completions', body }, client);
    });
    // The slot is free when the answer is complete.
    finished(answer.body as Readable, { readable: false }, end);
    return answer;
  } catch (error) {
    end();
    throw error;
  }
}

/** Returns whether a starter model is being prepared. */
export type IsPreparing = (starter: 'starter-image-model' | 'starter-language-model') => Promise<boolean>;

/** Returns whether a visitor can try pictures and the chat here. */
export async function getVisitorTries(
  { db, config }: Pick<Services, 'db' | 'config'>,
  isPreparing: IsPreparing,
): Promise<ResponseOf<typeof getVisitorTriesEndpoint>> {
  const { slug: chat_model } = starterLanguageModel;
  if (parseBgl(config.visitorBudgetBgl) === 0n) return { picture: 'off', chat: 'off', chat_model };
  const starters = (await listStarterModels(db)).map(({ modelName }) => modelName);
  const stateOf = async (modelName: string, id: Parameters<IsPreparing>[0]): Promise<VisitorTryState> => {
    if (starters.includes(modelName)) return 'ready';
    return (await isPreparing(id)) ? 'preparing' : 'off';
  };
  return {
    picture: await stateOf(PARIS_MODEL, 'starter-image-model'),
    chat: await stateOf(chat_model, 'starter-language-model'),
    chat_model,
  };
}

/** Returns the error if all slots for visitors are taken. */
function visitorsBusyError(): AppError {
  return tooMany('Other visitors are trying it right now. Try again in a few seconds, or sign up.', {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** Runs `work` for a visitor. Its errors get texts for people without an account. */
export async function withVisitorErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'insufficient_funds')
      throw tooMany("Today's free trials are used up. Sign up to continue.");
    if (error.code === 'rate_limited') throw visitorsBusyError();
    throw error;
  }
}

/** Returns the context of a call with the visitors' account as its caller. */
export function asVisitor(ctx: Context<Caller>): Context {
  return { ...ctx, caller: { kind: 'user', userId: VISITORS, isOperator: false }, idempotencyKey: null };
}

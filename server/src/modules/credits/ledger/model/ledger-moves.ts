import { sql } from 'kysely';
import type { Services } from '../../../../platform/context.ts';
import type { Database, Transaction } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { GRANTS_ACCOUNT, userAccount } from '../accounts.ts';
import type { SendInBatch } from '../batch-sends.ts';
import { expireHolds } from '../holds/expire-holds.ts';
import { extendHold } from '../holds/extend-hold.ts';
import { growHold } from '../holds/grow-hold.ts';
import { hold } from '../holds/hold.ts';
import { settle } from '../holds/settle.ts';
import { chargeBack, collectDebts, expireGiven } from '../ledger-given.ts';
import { readSend, type Send } from '../ledger-send.ts';
import { transfer } from '../transfer.ts';
import { applyWindowMove, type WindowMove } from './window-moves.ts';

/**
 * All moves of the ledger, for its property tests. They speak of users, keys, holds and usage windows by small
 * numbers, so that they meet often. Null minutes are never. With a key: with the user's API key, if there is one.
 */
export type Move =
  | { move: 'transfer'; from: number; to: number; amount: bigint; key: number | null }
  | { move: 'send'; from: number; to: number | null; amount: bigint; key: number | null }
  | { move: 'give'; user: number; amount: bigint; minutes: number | null }
  | { move: 'hold'; user: number; amount: bigint; key: number; minutes: number; withKey: boolean }
  | { move: 'extend'; hold: number; amount: bigint | undefined; minutes: number | undefined }
  | { move: 'grow'; hold: number; by: bigint; minutes: number | undefined }
  | { move: 'settle'; hold: number; amount: bigint }
  | { move: 'expire'; minutes: number }
  | { move: 'expireGiven'; minutes: number }
  | { move: 'chargeBack'; user: number; amount: bigint; key: number | null }
  | { move: 'collect' }
  | { move: 'open'; window: number; user: number; amount: bigint; minutes: number; withKey: boolean }
  | { move: 'widen'; window: number; by: bigint }
  /** Writes so many answers, of which the first is the `from`-th of the window. */
  | { move: 'use'; window: number; from: number; answers: number }
  | { move: 'close'; window: number };

/** 'ok', the code of the refusal, or 'mistake' for what only a wrong caller can ask. */
export type Outcome = string;

/** What a move that decides by itself how much it takes has taken, by user id. */
export type Taken = { userId: string; amountMicro: bigint }[];

/** One run of moves: its own users with their API keys, its own usage windows, and its own name before all keys. */
export type Run = {
  name: string;
  users: string[];
  /** By the place of their users; undefined for who has none. */
  keys: (string | undefined)[];
  leaderId: string;
  windows: string[];
};

const start = Date.parse('2030-01-01T00:00:00Z');
/** The time of a minute of the moves. */
export const at = (minute: number): Date => new Date(start + minute * 60_000);

/** Makes the move. */
export async function applyMove(
  { db, pool, send }: Pick<Services, 'db' | 'pool'> & { send: SendInBatch },
  run: Run,
  move: Move,
): Promise<{ outcome: Outcome; taken: Taken }> {
  if (move.move === 'open' || move.move === 'widen' || move.move === 'use' || move.move === 'close')
    return { outcome: await applyWindowMove({ db, pool }, run, move), taken: [] };
  try {
    if (move.move === 'send') {
      await sendIn(send, run, move);
      return { outcome: 'ok', taken: [] };
    }
    const taken = await db.transaction().execute((tx) => step(tx, run, move));
    return { outcome: 'ok', taken: taken ?? [] };
  } catch (error) {
    if (error instanceof AppError) return { outcome: error.code, taken: [] };
    const isMistake =
      error instanceof Error && /^There is no hold|is smaller than|accounts_differ/.test(error.message);
    if (isMistake) return { outcome: 'mistake', taken: [] };
    throw error;
  }
}

async function sendIn(send: SendInBatch, run: Run, move: Extract<Move, { move: 'send' }>): Promise<void> {
  const asked: Send = {
    senderId: run.users[move.from] ?? '',
    recipient: move.to === null ? 'nobody-at-all' : (run.users[move.to] ?? ''),
    amountMicro: move.amount,
    idempotencyKey: move.key === null ? null : `${run.name}:${move.key}`,
    keyId: run.keys[move.from] ?? null,
  };
  readSend(await send(asked), asked);
}

async function step(
  tx: Transaction,
  run: Run,
  move: Exclude<Move, { move: 'send' } | WindowMove>,
): Promise<Taken | undefined> {
  const userOf = (place: number) => run.users[place] ?? '';
  const holdKey = (key: number) => `${run.name}:${key}`;
  const until = (minute: number | undefined) => (minute === undefined ? undefined : at(minute));
  switch (move.move) {
    case 'transfer':
    case 'give':
      await transferIn(tx, run, move);
      return;
    case 'hold': {
      const keyId = move.withKey ? run.keys[move.user] : undefined;
      await hold(tx, {
        userId: userOf(move.user),
        amountMicro: move.amount,
        kind: 'llm_inference',
        description: 'Chat',
        references: keyId === undefined ? {} : { key_id: keyId },
        expiresAt: at(move.minutes),
        idempotencyKey: `${run.name}:${move.key}`,
      });
      return;
    }
    case 'extend':
      await extendHold(tx, {
        holdId: await findHold(tx, holdKey(move.hold)),
        amountMicro: move.amount,
        expiresAt: until(move.minutes),
      });
      return;
    case 'grow':
      await growHold(tx, {
        holdId: await findHold(tx, holdKey(move.hold)),
        byMicro: move.by,
        expiresAt: until(move.minutes),
      });
      return;
    case 'settle':
      await settle(tx, { holdId: await findHold(tx, holdKey(move.hold)), amountMicro: move.amount });
      return;
    case 'expire':
      await expireHolds(tx, { now: at(move.minutes), limit: 1000 });
      return;
    case 'expireGiven': {
      const expired = await expireGiven(tx, { now: at(move.minutes), limit: 1000 });
      return expired.map(({ accountId, amountMicro }) => ({
        userId: accountId.replace('user:', ''),
        amountMicro,
      }));
    }
    case 'chargeBack': {
      const { collectedMicro } = await chargeBack(tx, {
        userId: userOf(move.user),
        amountMicro: move.amount,
        description: 'Chargeback',
        idempotencyKey: move.key === null ? null : `${run.name}:chargeback:${move.key}`,
      });
      return [{ userId: userOf(move.user), amountMicro: collectedMicro }];
    }
    case 'collect':
      return collectDebts(tx, { limit: 1000 });
  }
}

async function transferIn(
  tx: Transaction,
  run: Run,
  move: Extract<Move, { move: 'transfer' | 'give' }>,
): Promise<void> {
  if (move.move === 'give') {
    await transfer(tx, {
      debitAccountId: GRANTS_ACCOUNT,
      creditAccountId: userAccount(run.users[move.user] ?? ''),
      amountMicro: move.amount,
      kind: 'grant',
      description: 'Promotion',
      idempotencyKey: null,
      given: { expiresAt: move.minutes === null ? null : at(move.minutes) },
    });
    return;
  }
  await transfer(tx, {
    debitAccountId: userAccount(run.users[move.from] ?? ''),
    creditAccountId: userAccount(run.users[move.to] ?? ''),
    amountMicro: move.amount,
    kind: 'transfer',
    description: 'Bagels',
    idempotencyKey: move.key === null ? null : `${run.name}:${move.key}`,
  });
}

/** The hold that was made with this key; the id of none where there is none. */
export async function findHold(db: Database | Transaction, idempotencyKey: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from ledger_holds where idempotency_key = ${idempotencyKey}`.execute(db);
  return rows[0]?.id ?? '00000000-0000-0000-0000-000000000000';
}

import type { Services } from '../../../../platform/context.ts';
import type { Transaction } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { GRANTS_ACCOUNT, userAccount } from '../accounts.ts';
import { chargeBack, collectDebts, expireGiven } from '../given-credits.ts';
import { expireHolds, extendHold, growHold, hold, settle } from '../holds/holds.ts';
import { assertSent, type Send, type SendInBatch } from '../sends.ts';
import { transfer } from '../transfer.ts';
import { at, findHold, type Move, type Outcome, type Run, type Taken, type WindowMove } from './moves.ts';
import { applyWindowMove } from './window-moves.ts';

/** Runs the move. */
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
  assertSent(await send(asked), asked);
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

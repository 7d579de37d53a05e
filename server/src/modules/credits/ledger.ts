import type { Use } from '@bakehouse/contract/credits';
import { formatBgl } from '@bakehouse/contract/money';
import { type RawBuilder, sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { GRANTS_ACCOUNT, revenueAccount, userAccount } from './accounts.ts';
import {
  callOnce,
  type ExtensionOutcome,
  holdEnded,
  type MoveOutcome,
  oneOf,
  publishBalance,
  refuseUnlessExtended,
  refuseUnlessMoved,
} from './ledger-answers.ts';
import { withinBudget } from './within-budget.ts';

/**
 * The writer of the ledger, with ledger-send.ts and ledger-given.ts beside it: each step is one call of a
 * function in server/migrations (ledger_*), inside the caller's transaction, and tells every touched user
 * after its commit that the balance changed. Amounts are micro-BGL. A step that throws has changed
 * nothing, and the caller's transaction stays usable.
 *
 * Steps lock accounts until the transaction ends: make one move per transaction, as its last work.
 */

export type TransferKind = 'grant' | 'purchase' | 'transfer' | 'charge' | 'refund' | 'expiry' | 'chargeback';

/** What a movement is about; shown in statements and kept under the seal. */
export type References = {
  asset_name?: string;
  dataset_id?: string;
  model_id?: string;
  run_id?: string;
  pod_id?: string;
  generation_id?: string;
  request_id?: string;
  /** The API key that asked for it: a hold counts against its budget. */
  key_id?: string;
  /** The usage window that the hold stands for. */
  usage_window_id?: string;
};

type Transfer = {
  debitAccountId: string;
  creditAccountId: string;
  amountMicro: bigint;
  kind: TransferKind;
  description: string;
  references?: References;
  /** Unique in the whole ledger: begin it with who and what. Null: cannot be repeated safely. */
  idempotencyKey: string | null;
  /** They come as given credits: spent first, never sent, and gone at `expiresAt`; null is never. */
  given?: { expiresAt: Date | null };
};

export type Hold = {
  userId: string;
  amountMicro: bigint;
  /** What the credits are for; it decides the revenue account. */
  kind: Use;
  description: string;
  references?: References;
  /** When the hold lets go by itself. Work that lives longer extends it. */
  expiresAt: Date;
  /** Unique among all holds: begin it with the noun, e.g. `run:<id>`. */
  idempotencyKey: string;
};

/** How a hold ends: with a charge from 0 to the hold's amount. */
type Settlement = { holdId: string; amountMicro: bigint };

const givenUntil = (given: Transfer['given']): Date | string | null =>
  given === undefined ? null : (given.expiresAt ?? 'infinity');

/**
 * Makes a new user's account, unless somebody's transfer to him has, and posts the starting grant, if
 * it is above zero, once.
 */
export async function openUserAccount(
  tx: Transaction,
  input: { userId: string; grantMicro: bigint; expiresAt?: Date | null },
): Promise<void> {
  const { userId, grantMicro } = input;
  const idempotencyKey = `starting-grant:${userId}`;
  const { granted } = await callOnce<{ granted: boolean }>(
    tx,
    sql`
      select exists (select from ledger_transfers where idempotency_key = ${idempotencyKey}) as granted,
        ledger_open_accounts(${[userId]})`,
  );
  if (granted || grantMicro === 0n) return;
  await transfer(tx, {
    debitAccountId: GRANTS_ACCOUNT,
    creditAccountId: userAccount(userId),
    amountMicro: grantMicro,
    kind: 'grant',
    description: 'Starting credits',
    idempotencyKey,
    given: { expiresAt: input.expiresAt ?? null },
  });
}

type TransferAnswer = {
  outcome: MoveOutcome;
  transfer_id: string;
  available: bigint | null;
  sendable: bigint | null;
};

/**
 * Moves credits at once. The same key with the same transfer answers with the first transfer's id.
 * Throws AppError 'insufficient_funds', 'idempotency_conflict', or for given credits on the way to another user
 * 'not_sendable'.
 */
export async function transfer(tx: Transaction, input: Transfer): Promise<{ transferId: string }> {
  const { debitAccountId, creditAccountId, amountMicro } = input;
  const answer = await callOnce<TransferAnswer>(
    tx,
    sql`select * from ledger_transfer(
      ${debitAccountId}, ${creditAccountId}, ${amountMicro}, ${input.kind}, ${input.description},
      ${toJson(input.references ?? {})}, ${input.idempotencyKey}, ${givenUntil(input.given)})`,
  );
  refuseUnlessMoved(answer.outcome, amountMicro, answer);
  if (answer.outcome === 'ok') await publishBalance(tx, [debitAccountId, creditAccountId]);
  return { transferId: answer.transfer_id };
}

/**
 * Promises credits to work that is about to start: they leave what the user can spend, and come
 * back unless the hold is settled. Throws AppError 'insufficient_funds', 'budget_exceeded' or
 * 'idempotency_conflict'.
 */
export async function hold(tx: Transaction, input: Hold): Promise<{ holdId: string }> {
  const { rows } = await withinBudget(tx, () =>
    sql<HoldAnswer>`select outcome, hold_id, available from ${holdCall(input)}`.execute(tx),
  );
  const { holdId, changed } = readHold(rows, input);
  if (changed) await publishBalance(tx, [userAccount(input.userId)]);
  return { holdId };
}

type HoldAnswer = { outcome: MoveOutcome; hold_id: string; available: bigint | null };

function holdCall(input: Hold): RawBuilder<unknown> {
  return sql`ledger_hold(
    ${userAccount(input.userId)}, ${revenueAccount(input.kind)}, ${input.amountMicro}, 'charge', ${input.description},
    ${toJson(input.references ?? {})}, ${input.expiresAt}, ${input.idempotencyKey})`;
}

function readHold(rows: HoldAnswer[], input: Hold): { holdId: string; changed: boolean } {
  const answer = oneOf(rows);
  refuseUnlessMoved(answer.outcome, input.amountMicro, answer);
  return { holdId: answer.hold_id, changed: answer.outcome === 'ok' };
}

/**
 * Gives a pending hold a larger amount (the new total, not the difference) or a later end. A smaller
 * amount or an earlier end leaves what is there, so the call may be repeated. Throws AppError
 * 'insufficient_funds' or 'budget_exceeded' (the hold stays as it was), or 'conflict' when it has ended.
 */
export async function extendHold(
  tx: Transaction,
  input: { holdId: string; amountMicro?: bigint; expiresAt?: Date },
): Promise<void> {
  const answer = await withinBudget(tx, () =>
    callOnce<{
      outcome: ExtensionOutcome;
      missing: bigint | null;
      available: bigint | null;
      debit_account_id: string | null;
    }>(
      tx,
      sql`select * from ledger_extend_hold(${input.holdId}, ${input.amountMicro ?? null}, ${input.expiresAt ?? null})`,
    ),
  );
  refuseUnlessExtended(answer, { holdId: input.holdId, missing: answer.missing });
  if (answer.missing) await publishBalance(tx, [answer.debit_account_id]);
}

/**
 * Raises a pending hold by an amount, and answers what it has now; a later end may come with it. Each call
 * takes more: `extendHold` is the one to repeat. Throws what `extendHold` throws, and the hold stays as it was.
 */
export async function growHold(
  tx: Transaction,
  input: { holdId: string; byMicro: bigint; expiresAt?: Date },
): Promise<{ amountMicro: bigint }> {
  if (input.byMicro <= 0n) throw new Error(`Hold ${input.holdId} cannot grow by ${input.byMicro}`);
  const answer = await withinBudget(tx, () =>
    callOnce<{
      outcome: ExtensionOutcome;
      amount: bigint;
      available: bigint | null;
      debit_account_id: string | null;
    }>(
      tx,
      sql`select * from ledger_grow_hold(${input.holdId}, ${input.byMicro}, ${input.expiresAt ?? null})`,
    ),
  );
  refuseUnlessExtended(answer, { holdId: input.holdId, missing: input.byMicro });
  await publishBalance(tx, [answer.debit_account_id]);
  return { amountMicro: answer.amount };
}

/**
 * Charges any amount from 0 to the hold's and gives the rest back; the transfer's id is null where
 * nothing was charged. Settling again with the same amount answers the same; with another amount,
 * or after a release, throws AppError 'conflict'. More than the hold is a mistake of the caller.
 */
export async function settle(tx: Transaction, input: Settlement): Promise<{ transferId: string | null }> {
  const answer = await callOnce<{
    outcome: 'ok' | 'replayed' | 'exceeds_hold' | 'ended' | 'not_found';
    transfer_id: string | null;
    debit_account_id: string | null;
  }>(tx, sql`select * from ledger_settle(${input.holdId}, ${input.amountMicro})`);
  if (answer.outcome === 'not_found') throw new Error(`There is no hold ${input.holdId}`);
  if (answer.outcome === 'exceeds_hold') {
    throw new Error(`Hold ${input.holdId} is smaller than the ${formatBgl(input.amountMicro)} BGL to settle`);
  }
  if (answer.outcome === 'ended') throw holdEnded();
  if (answer.outcome === 'ok') await publishBalance(tx, [answer.debit_account_id]);
  return { transferId: answer.transfer_id };
}

/** Gives the whole hold back. May be repeated. Throws AppError 'conflict' when it was settled with a charge. */
export async function release(tx: Transaction, input: { holdId: string }): Promise<void> {
  await settle(tx, { holdId: input.holdId, amountMicro: 0n });
}

/** Releases holds whose time is over at `now`, at most `limit`. Answers how many there were. */
export async function expireHolds(tx: Transaction, input: { now: Date; limit: number }): Promise<number> {
  const { rows } = await sql<{ debit_account_id: string }>`
    select debit_account_id from ledger_expire_holds(${input.now}, ${input.limit})`.execute(tx);
  await publishBalance(tx, [...new Set(rows.map((row) => row.debit_account_id))]);
  return rows.length;
}

/** What the user can spend: the balance less the holds. */
export async function availableMicro(db: Database | Transaction, userId: string): Promise<bigint> {
  const answer = await callOnce<{ available: bigint }>(
    db,
    sql`select credits_posted - debits_posted - debits_pending as available
        from ledger_accounts where id = ${userAccount(userId)}`,
  );
  return answer.available;
}

import type { Use } from '@bakehouse/contract/credits';
import { formatBgl } from '@bakehouse/contract/money';
import { type RawBuilder, sql } from 'kysely';
import type { Services } from '../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { runPrepared } from '../../platform/db/run-prepared.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { accountOwner, GRANTS_ACCOUNT, revenueAccount, userAccount } from './accounts.ts';
import { withinBudget } from './within-budget.ts';

/**
 * The one writer of the ledger: each step is one call of a function in server/migrations (ledger_*),
 * inside the caller's transaction, and tells every touched user that the balance changed. Amounts
 * are micro-BGL. A step that throws has changed nothing, and the caller's transaction stays usable.
 *
 * Steps lock accounts until the transaction ends: make one move per transaction, as its last work.
 */

type Prepared = Pick<Services, 'db' | 'pool'>;

export type TransferKind = 'grant' | 'purchase' | 'transfer' | 'charge' | 'refund';

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

/**
 * Makes a new user's account, unless somebody's transfer to him has, and posts the starting grant, if
 * it is above zero, once.
 */
export async function openUserAccount(
  tx: Transaction,
  input: { userId: string; grantMicro: bigint },
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
  });
}

/**
 * Moves credits at once. The same key with the same transfer answers with the first transfer's id.
 * Throws AppError 'insufficient_funds' or 'idempotency_conflict'.
 */
export async function transfer(tx: Transaction, input: Transfer): Promise<{ transferId: string }> {
  const { debitAccountId, creditAccountId, amountMicro } = input;
  const answer = await callOnce<{ outcome: MoveOutcome; transfer_id: string; available: bigint | null }>(
    tx,
    sql`select * from ledger_transfer(
      ${debitAccountId}, ${creditAccountId}, ${amountMicro}, ${input.kind}, ${input.description},
      ${toJson(input.references ?? {})}, ${input.idempotencyKey})`,
  );
  refuseUnlessMoved(answer.outcome, amountMicro, answer.available);
  if (answer.outcome === 'ok') await publishBalance(tx, [debitAccountId, creditAccountId]);
  return { transferId: answer.transfer_id };
}

/** Credits from one user to another, named by username, email address or id. */
export type Send = {
  senderId: string;
  recipient: string;
  amountMicro: bigint;
  /** The sender's own. */
  idempotencyKey: string | null;
};

export type SendAnswer = {
  outcome: MoveOutcome | 'unknown_recipient' | 'own_account' | 'busy';
  transfer_id: string | null;
  available: bigint | null;
  recipient_id: string | null;
};

/**
 * Moves credits between users, one after the other, each with its own answer; see `readSend`. This is a
 * transaction of its own and tells nobody: the caller announces the changes after it, because
 * announcing inside makes such transactions commit one after the other. Without `wait` transfers
 * whose accounts another transaction holds are answered 'busy' and left alone.
 */
export async function sendAll(
  services: Prepared,
  sends: Send[],
  { wait }: { wait: boolean },
): Promise<SendAnswer[]> {
  return runPrepared(
    services,
    'ledger_send',
    sql<SendAnswer>`
      select outcome, transfer_id, available, recipient_id from ledger_send(
        ${sends.map((one) => one.senderId)}, ${sends.map((one) => one.recipient)},
        ${sends.map((one) => one.amountMicro)}, ${sends.map((one) => one.idempotencyKey)}, ${wait})`,
  );
}

/** Throws what `transfer` throws, and AppError 'not_found' or 'invalid_request' for the recipient. */
export function readSend(
  { outcome, transfer_id, available, recipient_id }: SendAnswer,
  { amountMicro }: Send,
): { transferId: string; recipientId: string } {
  if (outcome === 'unknown_recipient') throw unknownRecipient();
  if (outcome === 'own_account') {
    throw new AppError('invalid_request', {
      publicMessage: 'You cannot send Bagels to yourself',
      param: 'recipient_id',
    });
  }
  if (outcome !== 'busy') refuseUnlessMoved(outcome, amountMicro, available);
  if (transfer_id === null || recipient_id === null) throw new Error('The sender has no account');
  return { transferId: transfer_id, recipientId: recipient_id };
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

/**
 * What `hold` does, as a transaction of its own that tells nobody and does not wait for the disk: a
 * database that crashes within the next moment may forget the hold, and never a settlement, since
 * what is committed later reaches the disk later. `changed` says whether there is something to tell.
 */
export async function placeHold(
  services: Prepared,
  input: Hold,
): Promise<{ holdId: string; changed: boolean }> {
  const rows = await runPrepared(
    services,
    'ledger_hold',
    sql<HoldAnswer>`
      select outcome, hold_id, available, set_config('synchronous_commit', 'off', true)
      from ${holdCall(input)}`,
  );
  return readHold(rows, input);
}

type HoldAnswer = { outcome: MoveOutcome; hold_id: string; available: bigint | null };

function holdCall(input: Hold): RawBuilder<unknown> {
  return sql`ledger_hold(
    ${userAccount(input.userId)}, ${revenueAccount(input.kind)}, ${input.amountMicro}, 'charge', ${input.description},
    ${toJson(input.references ?? {})}, ${input.expiresAt}, ${input.idempotencyKey})`;
}

function readHold(rows: HoldAnswer[], input: Hold): { holdId: string; changed: boolean } {
  const answer = oneOf(rows);
  refuseUnlessMoved(answer.outcome, input.amountMicro, answer.available);
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
  const { transferId, changed } = await endHold(tx, input);
  if (changed !== null) await publishBalance(tx, [changed]);
  return { transferId };
}

/**
 * What `settle` does, telling nobody: for what is settled by the hundred, whose caller announces it after the
 * commit. `changed` is the account whose balance did.
 */
export async function endHold(
  tx: Transaction,
  input: Settlement,
): Promise<{ transferId: string | null; changed: string | null }> {
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
  return {
    transferId: answer.transfer_id,
    changed: answer.outcome === 'ok' ? answer.debit_account_id : null,
  };
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

type MoveOutcome = 'ok' | 'replayed' | 'idempotency_conflict' | 'insufficient_funds';

async function callOnce<Answer>(db: Database | Transaction, query: RawBuilder<unknown>): Promise<Answer> {
  const { rows } = await query.$castTo<Answer>().execute(db);
  return oneOf(rows);
}

function oneOf<Answer>([answer]: Answer[]): Answer {
  if (answer === undefined) throw new Error('The ledger gave no answer');
  return answer;
}

function refuseUnlessMoved(outcome: MoveOutcome, amountMicro: bigint, available: bigint | null): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(amountMicro, available);
  if (outcome === 'idempotency_conflict') {
    throw new AppError('idempotency_conflict', {
      publicMessage: 'This Idempotency-Key was already used for another request. Send a new key',
      param: 'Idempotency-Key',
    });
  }
}

type ExtensionOutcome = 'ok' | 'insufficient_funds' | 'ended' | 'not_found';

function refuseUnlessExtended(
  { outcome, available }: { outcome: ExtensionOutcome; available: bigint | null },
  { holdId, missing }: { holdId: string; missing: bigint | null },
): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(missing, available);
  if (outcome === 'not_found') throw new Error(`There is no hold ${holdId}`);
  if (outcome === 'ended') throw holdEnded();
}

function insufficientFunds(requiredMicro: bigint | null, available: bigint | null): AppError {
  const required_amount = formatBgl(requiredMicro ?? 0n);
  const available_amount = formatBgl(available ?? 0n);
  return new AppError('insufficient_funds', {
    publicMessage: `Insufficient balance. Required: ${required_amount} BGL. Available: ${available_amount} BGL.`,
    data: { required_amount, available_amount },
  });
}

/** The send form's own message. */
export function unknownRecipient(): AppError {
  return new AppError('not_found', {
    publicMessage: 'Failed to send Bagels. Please check the recipient username.',
    param: 'recipient_id',
  });
}

function holdEnded(): AppError {
  return new AppError('conflict', {
    publicMessage: 'The credits held for this work were already settled or released',
  });
}

async function publishBalance(tx: Transaction, accountIds: (string | null)[]): Promise<void> {
  for (const accountId of accountIds) {
    const userId = accountId === null ? null : accountOwner(accountId);
    if (userId !== null) await publishChange(tx, userId, { topic: 'balance', id: userId });
  }
}

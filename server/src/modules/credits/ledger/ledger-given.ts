import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { userAccount } from './accounts.ts';
import { callOnce, type MoveOutcome, publishBalance, refuseUnlessMoved } from './ledger-answers.ts';

/**
 * Takes back given credits that have expired by `now`, in `limit` accounts at most. What open holds need
 * stays until they end. Answers what was taken from whom.
 */
export async function expireGiven(
  tx: Transaction,
  input: { now: Date; limit: number },
): Promise<{ accountId: string; amountMicro: bigint }[]> {
  const { rows } = await sql<{ accountId: string; amountMicro: bigint }>`
    select account_id as "accountId", amount as "amountMicro"
    from ledger_expire_given(${input.now}, ${input.limit})`.execute(tx);
  await publishBalance(
    tx,
    rows.map(({ accountId }) => accountId),
  );
  return rows;
}

type Chargeback = {
  userId: string;
  amountMicro: bigint;
  description: string;
  references?: Record<string, string>;
  /** Unique in the whole ledger; null cannot be repeated safely. */
  idempotencyKey: string | null;
};

type ChargebackAnswer = { outcome: MoveOutcome; transfer_id: string; collected: bigint; owed: bigint };

/**
 * Books a payment that was taken back: the user owes it from now on, and pays at once what they could also
 * send; `collectDebts` takes the rest as soon as they have it. `owedMicro` is all that they owe then, and `isReplayed` says
 * that it was booked before. Throws AppError 'idempotency_conflict'.
 */
export async function chargeBack(
  tx: Transaction,
  input: Chargeback,
): Promise<{ transferId: string; collectedMicro: bigint; owedMicro: bigint; isReplayed: boolean }> {
  const answer = await callOnce<ChargebackAnswer>(
    tx,
    sql`select * from ledger_charge_back(${input.userId}, ${input.amountMicro}, ${input.description},
      ${toJson(input.references ?? {})}, ${input.idempotencyKey})`,
  );
  refuseUnlessMoved(answer.outcome, input.amountMicro, { available: null });
  if (answer.collected > 0n) await publishBalance(tx, [userAccount(input.userId)]);
  return {
    transferId: answer.transfer_id,
    collectedMicro: answer.collected,
    owedMicro: answer.owed,
    isReplayed: answer.outcome === 'replayed',
  };
}

/** Takes what users owe from those who have something, `limit` at most. Answers how much from whom. */
export async function collectDebts(
  tx: Transaction,
  { limit }: { limit: number },
): Promise<{ userId: string; amountMicro: bigint }[]> {
  const { rows } = await sql<{ userId: string; amountMicro: bigint }>`
    select owner_user_id as "userId", ledger_collect(owner_user_id) as "amountMicro"
    from (
      select a.owner_user_id
      from ledger_accounts r
      join ledger_accounts a on a.owner_user_id = r.owner_user_id and a.kind = 'user'
      where r.kind = 'receivable'
        and a.credits_posted - a.debits_posted > greatest(a.debits_pending, a.given)
        and (select sum(amount) from ledger_transfers where debit_account_id = r.id)
          > (select coalesce(sum(amount), 0) from ledger_transfers where credit_account_id = r.id)
      order by a.id
      limit ${limit}
    ) debtors`.execute(tx);
  const collected = rows.filter(({ amountMicro }) => amountMicro > 0n);
  await publishBalance(
    tx,
    collected.map(({ userId }) => userAccount(userId)),
  );
  return collected;
}

import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { getUserTotals } from '../queries.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { assertMoved, callOnce, type MoveOutcome, publishBalance } from './ledger-answers.ts';
import { type References, transfer } from './transfer.ts';

/**
 * Gives a user credits, once per key. Unless `sendable` is set, or if they expire, the user cannot send them
 * to others. Credits that cannot be sent are spent first.
 */
export async function grantGivenCredits(
  tx: Transaction,
  gift: {
    userId: string;
    amountMicro: bigint;
    description: string;
    references?: References;
    idempotencyKey: string;
    sendable: boolean;
    expiresAt?: Date | null;
  },
): Promise<{ transferId: string }> {
  return transfer(tx, {
    debitAccountId: GRANTS_ACCOUNT,
    creditAccountId: userAccount(gift.userId),
    amountMicro: gift.amountMicro,
    kind: 'grant',
    description: gift.description,
    references: gift.references ?? {},
    idempotencyKey: gift.idempotencyKey,
    ...((gift.expiresAt || !gift.sendable) && { given: { expiresAt: gift.expiresAt ?? null } }),
  });
}

/**
 * Step: withdraws all of a user's credits that are not held. Returns the held amount, which must be withdrawn
 * later.
 */
export async function withdrawCredits(tx: Transaction, userId: string): Promise<{ heldMicro: bigint }> {
  const { balance, held } = await getUserTotals(tx, userId);
  if (balance > held) {
    await transfer(tx, {
      debitAccountId: userAccount(userId),
      creditAccountId: GRANTS_ACCOUNT,
      amountMicro: balance - held,
      kind: 'expiry',
      description: 'Given up with the account',
      // No key is needed: a repeated call finds nothing left to withdraw.
      idempotencyKey: null,
    });
  }
  return { heldMicro: held };
}

type Chargeback = {
  userId: string;
  amountMicro: bigint;
  description: string;
  references?: Record<string, string>;
  /** Unique in the whole ledger. With null, a repeated call would book again. */
  idempotencyKey: string | null;
};

type ChargebackAnswer = { outcome: MoveOutcome; transfer_id: string; collected: bigint; owed: bigint };

/**
 * Books a reversed payment as the user's debt, and collects the sendable part of the balance at the same
 * time. `collectDebts` later collects the rest. Returns the user's total debt after that as `owedMicro`, and
 * `isReplayed` if an earlier call with this key has already booked it. Throws AppError
 * 'idempotency_conflict'.
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
  assertMoved(answer.outcome, input.amountMicro, { available: null });
  if (answer.collected > 0n) await publishBalance(tx, [userAccount(input.userId)]);
  return {
    transferId: answer.transfer_id,
    collectedMicro: answer.collected,
    owedMicro: answer.owed,
    isReplayed: answer.outcome === 'replayed',
  };
}

/** Collects debts from at most `limit` users with credits. Returns the collected amounts by user. */
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

/**
 * Withdraws given credits that expired by `now`, in at most `limit` accounts. Leaves the amounts that open
 * holds need, until the holds end. Returns the withdrawn amounts by account.
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

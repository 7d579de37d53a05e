import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

export type PurchaseRow = {
  id: string;
  user_id: string;
  usd_cents: number;
  amount_micro: bigint;
  session_id: string | null;
  status: 'open' | 'paid' | 'failed' | 'expired' | 'refused';
  reversed_cents: number;
  receipt_url: string | null;
  account_deleted: boolean;
  version: number;
  created_at: Date;
  paid_at: Date | null;
};

export async function insertPurchase(
  tx: Transaction,
  purchase: { userId: string; usdCents: number; amountMicro: bigint },
): Promise<string> {
  const { id } = await tx
    .insertInto('purchases')
    .values({ user_id: purchase.userId, usd_cents: purchase.usdCents, amount_micro: purchase.amountMicro })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Stores the payment session of a purchase, unless it already has one. Later refunds and disputes are found
 * through it.
 */
export async function setSession(db: Database, purchaseId: string, sessionId: string): Promise<void> {
  await db
    .updateTable('purchases')
    .set({ session_id: sessionId })
    .where('id', '=', purchaseId)
    .where('session_id', 'is', null)
    .execute();
}

export async function findPurchase(db: Database, purchaseId: string): Promise<PurchaseRow | undefined> {
  const { rows } = await sql<PurchaseRow>`
    select p.*, u.deleted_at is not null as account_deleted
    from purchases p join users u on u.id = p.user_id
    where p.id = ${purchaseId}`.execute(db);
  return rows[0];
}

export async function findPurchaseOfPayment(db: Database, paymentId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('purchases')
    .select('id')
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  return row?.id;
}

/** Returns a user's purchases with a payment session, newest first, after the purchase `cursor`. */
export async function listUserPurchases(
  db: Database,
  userId: string,
  { cursor = null, limit = null }: { cursor?: string | null | undefined; limit?: number | null } = {},
): Promise<Omit<PurchaseRow, 'account_deleted'>[]> {
  const { rows } = await sql<PurchaseRow>`
    select * from purchases
    where user_id = ${userId} and session_id is not null and (${cursor}::uuid is null or id < ${cursor}::uuid)
    order by id desc limit ${limit}::bigint`.execute(db);
  return rows;
}

/**
 * Returns purchases to check even without an event, least recently checked first. Open purchases are included
 * if their page was opened before `openBefore`. Paid purchases are included once a day while they may be
 * disputed.
 */
export async function listPurchasesToCheck(
  db: Database,
  { openBefore, now, limit }: { openBefore: Date; now: Date; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    (select id from purchases where status = 'open' and session_id is not null and created_at < ${openBefore}
      order by coalesce(checked_at, created_at) limit ${limit})
    union all
    (select id from purchases where status = 'paid' and paid_at > ${now}::timestamptz - interval '120 days'
        and coalesce(checked_at, paid_at) < ${now}::timestamptz - interval '1 day'
      order by coalesce(checked_at, paid_at) limit ${limit})`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Counts a user's purchases since `since` that may still be paid. Those since `openingSince` count even
 * without a page, because a page may be about to open.
 */
export async function countOpenPurchases(
  tx: Transaction,
  userId: string,
  { since, openingSince }: { since: Date; openingSince: Date },
): Promise<number> {
  const { open } = await tx
    .selectFrom('purchases')
    .select((s) => s.fn.countAll<bigint>().as('open'))
    .where('user_id', '=', userId)
    .where('status', '=', 'open')
    .where((s) => s.or([s('session_id', 'is not', null), s('created_at', '>', openingSince)]))
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(open);
}

export async function setChecked(db: Database, id: string, now: Date): Promise<void> {
  await db.updateTable('purchases').set({ checked_at: now }).where('id', '=', id).execute();
}

type Change = Partial<Pick<PurchaseRow, 'status' | 'reversed_cents' | 'receipt_url' | 'paid_at'>> & {
  payment_id?: string | null;
};

/**
 * Changes a purchase unless another transaction has changed it since it was read. Returns false if it changed
 * nothing.
 */
export async function changePurchase(
  tx: Transaction,
  { id, version }: Pick<PurchaseRow, 'id' | 'version'>,
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('purchases')
    .set({ ...change, version: version + 1 })
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteReceipts(tx: Transaction, userId: string): Promise<void> {
  await tx
    .updateTable('purchases')
    .set({ receipt_url: null })
    .where('user_id', '=', userId)
    .where('receipt_url', 'is not', null)
    .execute();
}

import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { PriceId } from './prices.ts';
import type { PriceChange } from './prices-at.ts';

/**
 * Returns the changes that determine prices from `at` on: for each price, the change in effect and a pending
 * change.
 */
export async function selectPriceChanges(db: Database | Transaction, at: Date): Promise<PriceChange[]> {
  const { rows } = await sql<PriceChange>`
    (
      select distinct on (price_id) id, price_id, unit_price_micro, valid_from from price_changes
      where withdrawn_at is null and valid_from <= ${at} order by price_id, valid_from desc, id desc
    ) union all (
      select id, price_id, unit_price_micro, valid_from from price_changes
      where withdrawn_at is null and valid_from > ${at}
    )`.execute(db);
  return rows;
}

/** Serialises changes of this price until the transaction ends. */
export async function lockPrice(tx: Transaction, priceId: PriceId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`price:${priceId}`}, 0))`.execute(tx);
}

/** Withdraws a pending change, if there is one. */
export async function withdrawPending(tx: Transaction, priceId: PriceId, now: Date): Promise<void> {
  await tx
    .updateTable('price_changes')
    .set({ withdrawn_at: now })
    .where('price_id', '=', priceId)
    .where('valid_from', '>', now)
    .where('withdrawn_at', 'is', null)
    .execute();
}

export type NewPriceChange = {
  priceId: PriceId;
  unitPriceMicro: bigint;
  previousMicro: bigint;
  validFrom: Date;
  changedBy: string;
  createdAt: Date;
};

export async function insertPriceChange(tx: Transaction, change: NewPriceChange): Promise<string> {
  const { id } = await tx
    .insertInto('price_changes')
    .values({
      price_id: change.priceId,
      unit_price_micro: change.unitPriceMicro,
      previous_micro: change.previousMicro,
      valid_from: change.validFrom,
      changed_by: change.changedBy,
      created_at: change.createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Returns all changes with their authors, newest first. */
export async function listAllPriceChanges(
  db: Database,
  { before, limit }: { before: string | null; limit: number },
) {
  let query = db
    .selectFrom('price_changes')
    .innerJoin('users', 'users.id', 'price_changes.changed_by')
    .selectAll('price_changes')
    .select(['users.username', 'users.deleted_at'])
    .orderBy('price_changes.id', 'desc')
    .limit(limit);
  if (before !== null) query = query.where('price_changes.id', '<', before);
  return query.execute();
}

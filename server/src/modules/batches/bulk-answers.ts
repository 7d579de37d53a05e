import { randomUUID } from 'node:crypto';
import { smallerAmount } from '@bakehouse/contract/money';
import { type Insertable, sql } from 'kysely';
import type { Context } from '../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import { AppError } from '../../platform/errors.ts';
import { hold, settle } from '../billing/ledger/holds/holds.ts';
import { type BulkChanges, type BulkKind, type BulkRow, type RowOf, running, toRow } from './bulk-table.ts';

/*
 * A row of bulk answers is a batch or a draft. This file has its queries, and starts, cancels, charges and
 * ends it.
 */

/** Deadline of background work. */
const WINDOW_MS = 24 * 60 * 60_000;
/** The hold expires later than the work, so that the last answers can still be charged. */
const SLACK_MS = 2 * 60 * 60_000;

type Db = Database | Transaction;

/** Inserts a row without requests. It does not run before `startAnswers`. */
export async function insertBulk(
  tx: Transaction,
  row: Omit<Insertable<DB['bulk_answers']>, 'check_at'>,
): Promise<void> {
  await tx
    .insertInto('bulk_answers')
    .values({ ...row, check_at: row.created_at })
    .execute();
}

/** Returns a user's row. Optionally locks it until the transaction ends. */
export async function findBulk<Kind extends BulkKind>(
  db: Db,
  kind: Kind,
  { userId, id, lock = false }: { userId: string; id: string; lock?: boolean },
): Promise<RowOf<Kind> | undefined> {
  const row = await db
    .selectFrom('bulk_answers')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .$if(lock, (query) => query.forUpdate())
    .executeTakeFirst();
  return row && (toRow(row) as RowOf<Kind>);
}

/** Returns a user's rows, newest first, after the row `after`. */
export async function selectBulk<Kind extends BulkKind>(
  db: Db,
  kind: Kind,
  { userId, after = null, limit }: { userId: string; after?: string | null; limit: number },
): Promise<RowOf<Kind>[]> {
  const rows = await db
    .selectFrom('bulk_answers')
    .selectAll()
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(created_at, id) < (select created_at, id from bulk_answers where id = ${after} and user_id = ${userId})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => toRow(row) as RowOf<Kind>);
}

/**
 * Prevents concurrent transactions from creating a row of this kind for the user until the transaction ends.
 */
export async function lockBulk(tx: Transaction, kind: BulkKind, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} of ${userId}`}, 0))`.execute(tx);
}

/** Returns the number of a user's rows, or of those that have not ended. */
export async function countBulk(
  db: Db,
  kind: BulkKind,
  { userId, isOpen = false }: { userId: string; isOpen?: boolean },
): Promise<number> {
  const { count } = await db
    .selectFrom('bulk_answers')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .$if(isOpen, (query) => query.where('ended_at', 'is', null))
    .executeTakeFirstOrThrow();
  return Number(count);
}

type Start = Omit<BulkChanges, 'prices'> & {
  /** The maximum cost in micro-BGL. Zero is held as 1, the minimum of a hold. */
  highestMicro: bigint;
  prices: Record<string, string>;
  model: string;
  description: string;
};

/**
 * Step: holds the maximum cost of a row's answers, and starts or restarts the row. Must be the last step of
 * its transaction, because the hold locks the user's account. Throws AppError 'insufficient_funds' and
 * 'budget_exceeded'.
 */
export async function startAnswers(
  tx: Transaction,
  { caller: { userId, key }, clock }: Pick<Context, 'caller' | 'clock'>,
  { kind, id }: { kind: BulkKind; id: string },
  { highestMicro, prices, model, description, ...start }: Start,
): Promise<void> {
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + WINDOW_MS);
  const heldMicro = highestMicro > 0n ? highestMicro : 1n;
  const { holdId } = await hold(tx, {
    userId,
    amountMicro: heldMicro,
    kind: 'llm_inference',
    description,
    references: { asset_name: model, ...(key && { key_id: key.id }) },
    expiresAt: new Date(expiresAt.getTime() + SLACK_MS),
    idempotencyKey: `${kind}:${id}:${randomUUID()}`,
  });
  await update(tx, id, {
    ...{ key_id: key?.id ?? null, prices: toJson(prices), hold_id: holdId, held_micro: heldMicro },
    ...{ cost_micro: 0n, failed: 0, error: null, check_at: now, started_at: now, expires_at: expiresAt },
    ...{ cancelled_at: null, ended_at: null, outcome: null, ...start },
  });
}

/** Cancels a running row, which then ends with its answers. Returns false if it is not running. */
export async function cancelAnswers(
  db: Db,
  kind: BulkKind,
  { userId, id, now }: { userId: string; id: string; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('bulk_answers')
    .set({ cancelled_at: now, check_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .where('cancelled_at', 'is', null)
    .where(running)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The progress of a row that newly stored answers add. */
export type Progress = {
  completed: number;
  failed: number;
  costMicro: bigint;
  changes?: Pick<BulkChanges, 'dropped' | 'error'>;
};

/** Step: adds the number of answers and their cost to a locked row. */
export async function recordProgress(
  tx: Transaction,
  row: BulkRow,
  { completed, failed, costMicro, changes }: Progress,
): Promise<void> {
  await update(tx, row.id, {
    completed: row.completed + completed,
    failed: row.failed + failed,
    cost_micro: row.cost_micro + costMicro,
    ...changes,
  });
}

/** Step: ends a locked row, releases its lease and charges its answers. */
export async function endAnswers(tx: Transaction, row: BulkRow, end: BulkChanges): Promise<void> {
  await update(tx, row.id, { ...end, lock_token: null, locked_until: null });
  await charge(tx, row);
}

/** Step: charges a deleted user's running rows for their answers, and deletes all rows. */
export async function deleteAnswersOf(tx: Transaction, userId: string): Promise<void> {
  const rows = await tx
    .selectFrom('bulk_answers')
    .selectAll()
    .where('user_id', '=', userId)
    .where(running)
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const row of rows) await charge(tx, row);
  await tx.deleteFrom('bulk_answers').where('user_id', '=', userId).execute();
}

/**
 * Step: charges the cost of the stored answers. Charges nothing if the hold expired while no server was
 * running.
 */
async function charge(
  tx: Transaction,
  {
    hold_id: holdId,
    held_micro: held,
    cost_micro: cost,
  }: Pick<BulkRow, 'hold_id' | 'held_micro' | 'cost_micro'>,
): Promise<void> {
  if (holdId === null) throw new Error('Row has no hold');
  await settle(tx, { holdId, amountMicro: smallerAmount(cost, held) }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  });
}

async function update(tx: Transaction, id: string, changes: BulkChanges): Promise<void> {
  await tx.updateTable('bulk_answers').set(changes).where('id', '=', id).execute();
}

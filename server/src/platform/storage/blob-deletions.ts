import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Services } from '../context.ts';
import type { Database, Transaction } from '../db/database.ts';

/*
 * Bytes are deleted in steps, without holding a lock. A transaction deletes their row and records the
 * deletion. Then the bytes are deleted, and finally the record.
 */

type Parts = Pick<Services, 'blobs' | 'db'>;

/** A deletion that began longer ago than this has failed: its process must have timed out. */
const GONE_MS = 10 * 60_000;
const DELETE_MS_MAX = 4 * 60_000;
const LOOK_MS = 200;

/** Thrown when a blob that is being deleted is registered. */
class BeingDeleted extends Error {}

/** Transaction step: records that bytes are being deleted. Their name is locked and their row deleted. */
export async function beginDeletion(tx: Transaction, sha256: string): Promise<void> {
  await tx.insertInto('blob_deletions').values({ sha256 }).execute();
}

/**
 * Transaction step: throws BeingDeleted if the bytes are being deleted; `afterDeletion` then waits. The
 * caller has locked their name.
 */
export async function assertNotBeingDeleted(tx: Transaction, sha256: string): Promise<void> {
  const row = await tx
    .selectFrom('blob_deletions')
    .select('sha256')
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  if (row) throw new BeingDeleted(`${sha256} is being deleted`);
}

/** Runs a transaction that registers bytes. If they are being deleted, waits and runs it again. */
export async function afterDeletion<T>(parts: Parts, sha256: string, register: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await register();
    } catch (error) {
      if (!(error instanceof BeingDeleted)) throw error;
    }
    await resumeDeletion(parts, sha256);
    await sleep(LOOK_MS);
  }
}

/** Deletes bytes whose deletion has begun. If it fails, any process may resume it. */
export async function endDeletion({ blobs, db }: Parts, sha256: string): Promise<void> {
  try {
    await blobs.delete(sha256, AbortSignal.timeout(DELETE_MS_MAX));
  } catch (error) {
    await db
      .updateTable('blob_deletions')
      .set({ begun_at: sql<Date>`'-infinity'` })
      .where('sha256', '=', sha256)
      .execute();
    throw error;
  }
  await db.deleteFrom('blob_deletions').where('sha256', '=', sha256).execute();
}

/** Returns deletions that failed or whose process died. */
export async function listLeftDeletions(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('blob_deletions')
    .select('sha256')
    .where('begun_at', '<', longAgo)
    .limit(limit)
    .execute();
  return rows.map(({ sha256 }) => sha256);
}

/** Deletes the bytes unless another process does. */
export async function resumeDeletion(parts: Parts, sha256: string): Promise<void> {
  const { numUpdatedRows } = await parts.db
    .updateTable('blob_deletions')
    .set({ begun_at: sql<Date>`now()` })
    .where('sha256', '=', sha256)
    .where('begun_at', '<', longAgo)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await endDeletion(parts, sha256);
}

const longAgo = sql<Date>`now() - ${`${GONE_MS} ms`}::interval`;

import type { Database, Transaction } from '../../../platform/db/database.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';

/** Returns false if the session has ended; otherwise prevents its end until the transaction ends. */
export async function lockSessionAgainstEnd(tx: Transaction, sessionId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteUserSessions(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

/** Returns sessions that have not expired, most recently seen first. */
export async function listUserSessions(db: Database, userId: string, now: Date) {
  return db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'updated_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute();
}

/** Ends one of the user's sessions, or all except one; returns their number. */
export async function deleteSessions(
  tx: Transaction,
  userId: string,
  { only, except }: { only?: string; except?: string | undefined },
): Promise<number> {
  let which = tx.deleteFrom('sessions').where('user_id', '=', userId);
  if (only !== undefined) which = which.where('id', '=', only);
  if (except !== undefined) which = which.where('id', '!=', except);
  return Number((await which.executeTakeFirst()).numDeletedRows);
}

export async function deleteExpiredSessions(db: Database, now: Date): Promise<void> {
  await deleteBefore(db, 'sessions', { column: 'expires_at', time: now });
}

import type { NotificationKind } from '@bakehouse/contract/notifications';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { deleteBefore } from '../../platform/db/retention/delete-before.ts';
import type { NewNotification } from './kinds.ts';

type Db = Database | Transaction;

/** Inserts notifications. Arrays are used because a statement has at most 65,535 parameters. */
export async function insertNotifications(tx: Transaction, rows: NewNotification[]): Promise<void> {
  await sql`
    insert into notifications (user_id, kind, data)
    select user_id, kind, data::jsonb
    from unnest(
      ${rows.map((row) => row.userId)}::text[], ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => toJson(row.data))}::text[]
    ) as new (user_id, kind, data)`.execute(tx);
}

export type NotificationRow = Awaited<ReturnType<typeof selectNotifications>>[number];

/** Newest first, after the notification `cursor`. */
export async function selectNotifications(
  db: Db,
  { userId, cursor, limit }: { userId: string; cursor: string | undefined; limit: number },
) {
  return db
    .selectFrom('notifications')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(cursor !== undefined, (query) => query.where('id', '<', cursor ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function isNotificationOf(db: Db, id: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('notifications')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Marks the user's notification with this id as read, or all of them if null. */
export async function setRead(tx: Transaction, userId: string, id: string | null): Promise<void> {
  await tx
    .updateTable('notifications')
    .set({ read_at: sql<Date>`now()` })
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .$if(id !== null, (query) => query.where('id', '=', id ?? ''))
    .execute();
}

/** Returns the number of unread notifications, counted up to `max`. */
export async function selectUnreadCount(
  db: Db,
  { userId, max, kinds }: { userId: string; max: number; kinds?: NotificationKind[] },
): Promise<number> {
  const { unread } = await db
    .selectFrom((from) =>
      from
        .selectFrom('notifications')
        .select('user_id')
        .where('user_id', '=', userId)
        .where('read_at', 'is', null)
        .$if(kinds !== undefined, (query) => query.where('kind', 'in', kinds ?? []))
        // This is the order of the index. Without it, PostgreSQL scans the whole table if most rows belong to
        // one user.
        .orderBy('kind')
        .limit(max)
        .as('counted'),
    )
    .select((s) => s.fn.countAll<bigint>().as('unread'))
    .executeTakeFirstOrThrow();
  return Number(unread);
}

export async function deleteNotificationsBefore(db: Database, time: Date): Promise<void> {
  await deleteBefore(db, 'notifications', { column: 'created_at', time });
}

/** Returns the ids of the API keys whose users have not been notified of this expiry yet. */
export async function listUnnotifiedExpiries(
  tx: Transaction,
  ends: { keyId: string; userId: string; expiresAt: Date }[],
): Promise<Set<string>> {
  const { rows } = await sql<{ key_id: string }>`
    select ending.key_id
    from unnest(
      ${ends.map((end) => end.keyId)}::text[], ${ends.map((end) => end.userId)}::text[],
      ${ends.map((end) => end.expiresAt.toISOString())}::text[]
    ) as ending (key_id, user_id, expires_at)
    where not exists (
      select from notifications sent
      where sent.user_id = ending.user_id and sent.kind = 'api_key_expiring'
        and sent.data ->> 'key_id' = ending.key_id and sent.data ->> 'expires_at' = ending.expires_at
    )`.execute(tx);
  return new Set(rows.map((row) => row.key_id));
}

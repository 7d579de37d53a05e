import type { ContactMessage } from '@bakehouse/contract/contact';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

type Db = Database | Transaction;

export async function insertMessage(
  tx: Transaction,
  message: { user_id: string; subject: string; message: string },
): Promise<string> {
  const { id } = await tx
    .insertInto('contact_messages')
    .values(message)
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Returns how many messages a user sent within the last hour; locks the user. */
export async function countRecentMessages(tx: Transaction, userId: string): Promise<number> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
  const { count } = await tx
    .selectFrom('contact_messages')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', userId)
    .where('created_at', '>', sql<Date>`now() - interval '1 hour'`)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns messages, newest first, after the message `cursor`. */
export async function selectMessages(
  db: Db,
  { status, cursor, limit }: { status?: ContactMessage['status']; cursor?: string; limit: number },
): Promise<ContactMessage[]> {
  const rows = await withSender(db)
    .$if(status !== undefined, (query) => query.where('message.status', '=', status ?? ''))
    .$if(cursor !== undefined, (query) => query.where('message.id', '<', cursor ?? ''))
    .orderBy('message.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toMessage);
}

export async function findMessage(db: Db, id: string): Promise<ContactMessage | undefined> {
  const row = await withSender(db).where('message.id', '=', id).executeTakeFirst();
  return row && toMessage(row);
}

export async function setStatus(
  tx: Transaction,
  id: string,
  status: ContactMessage['status'],
): Promise<void> {
  await tx.updateTable('contact_messages').set({ status }).where('id', '=', id).execute();
}

function withSender(db: Db) {
  return db
    .selectFrom('contact_messages as message')
    .innerJoin('users', 'users.id', 'message.user_id')
    .select([
      'message.id as message_id',
      'message.user_id',
      'users.username',
      'users.email',
      'message.subject',
      'message.message',
      'message.status',
      'message.created_at',
    ]);
}

function toMessage(
  row: Awaited<ReturnType<ReturnType<typeof withSender>['execute']>>[number],
): ContactMessage {
  return {
    ...row,
    status: row.status as ContactMessage['status'],
    created_at: row.created_at.toISOString(),
  };
}

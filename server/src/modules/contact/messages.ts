import type {
  ContactMessage,
  changeMessage as changeMessageEndpoint,
  contactUs as contactUsEndpoint,
  listMessages as listMessagesEndpoint,
} from '@bakehouse/contract/contact';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { sql } from 'kysely';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { notFound, tooMany, unknownCursor } from '../../platform/errors.ts';
import { sendMail } from '../../platform/mail/mail.ts';
import { listOperators } from '../accounts/steps.ts';
import { notify } from '../notifications/notifications.ts';

/** Maximum messages per user and hour, because each is mailed to every operator. */
const MESSAGES_PER_HOUR = 10;

/**
 * Sends a message of the caller to the operators: to their page, as a notification, and by mail if
 * configured. Throws AppError 'rate_limited' for too many messages.
 */
export async function contactUs(
  ctx: Context,
  { body }: InputOf<typeof contactUsEndpoint>,
): Promise<ResponseOf<typeof contactUsEndpoint>> {
  const call = { userId: ctx.caller.userId, key: ctx.idempotencyKey, operation: 'contact-us', input: body };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      if ((await countRecentMessages(tx, ctx.caller.userId)) >= MESSAGES_PER_HOUR) {
        throw tooMany(`You have sent ${MESSAGES_PER_HOUR} messages within an hour. Try again later`);
      }
      const message_id = await insertMessage(tx, body);
      await notifyOperators(tx, ctx, message_id);
      return { message_id };
    }),
  );
}

async function notifyOperators(tx: Transaction, ctx: Context, messageId: string): Promise<void> {
  const sent = await findMessage(tx, messageId);
  if (!sent) throw new Error('Message insert returned no row');
  const { username, email, subject, message } = sent;
  const operators = await listOperators(tx, ctx.config);
  await notify(
    tx,
    ...operators.map((userId) => ({
      userId,
      kind: 'message_received' as const,
      data: { username, subject },
    })),
  );
  // A server without mail logs mails instead of sending them, which would reveal a confidential message.
  if (!ctx.config.mail) return;
  const text = `${username} <${email}> wrote:\n\n${message}\n\nAll messages: ${ctx.config.publicUrl}/operator/messages`;
  for (const to of ctx.config.operators)
    await sendMail(tx, ctx, { to, subject: `Message: ${subject}`, text });
}

/** Lists users' messages, newest first; for operators. The cursor is the previous page's last message. */
export async function listMessages(
  ctx: Context,
  { query }: InputOf<typeof listMessagesEndpoint>,
): Promise<ResponseOf<typeof listMessagesEndpoint>> {
  const { status, cursor, limit } = query;
  if (cursor !== undefined && !(await findMessage(ctx.db, cursor))) throw unknownCursor();
  const found = await selectMessages(ctx.db, { status, cursor, limit: limit + 1 });
  const messages = found.slice(0, limit);
  return { messages, next_cursor: found.length > limit ? (messages.at(-1)?.message_id ?? null) : null };
}

type Db = Database | Transaction;

async function insertMessage(
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
async function countRecentMessages(tx: Transaction, userId: string): Promise<number> {
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
async function selectMessages(
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

async function findMessage(db: Db, id: string): Promise<ContactMessage | undefined> {
  const row = await withSender(db).where('message.id', '=', id).executeTakeFirst();
  return row && toMessage(row);
}

async function setStatus(tx: Transaction, id: string, status: ContactMessage['status']): Promise<void> {
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

/** Returns the caller's messages to the operators, oldest first. */
export async function listOwnMessages({ db, caller }: Context) {
  return db
    .selectFrom('contact_messages')
    .select(['subject', 'message', 'status', 'created_at'])
    .where('user_id', '=', caller.userId)
    .orderBy('id')
    .execute();
}

/** Marks a message as new, read or answered; the caller is an operator. Throws AppError 'not_found'. */
export async function changeMessage(
  ctx: Context,
  { params, body }: InputOf<typeof changeMessageEndpoint>,
): Promise<ResponseOf<typeof changeMessageEndpoint>> {
  return inTransaction(ctx.db, async (tx) => {
    await setStatus(tx, params.messageId, body.status);
    const message = await findMessage(tx, params.messageId);
    if (!message) throw notFound('Message');
    return message;
  });
}

/** Deletes the messages of a deleted user. */
export async function deleteUserMessages(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('contact_messages').where('user_id', '=', userId).execute();
}

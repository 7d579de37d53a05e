import type { contactUs as contract } from '@bakehouse/contract/contact';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { sendMail } from '../../platform/mail/send-mail.ts';
import { listOperators } from '../accounts/steps.ts';
import { notify } from '../notifications/notify.ts';
import { countRecentMessages, findMessage, insertMessage } from './queries.ts';

/** Per user, because each message is mailed to every operator. */
const MESSAGES_PER_HOUR = 10;

/**
 * Sends a message of the caller to the operators: to their page, as a notification, and by mail if
 * configured. Throws AppError 'rate_limited' for too many messages.
 */
export async function contactUs(
  ctx: Context,
  { body }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const call = { userId: ctx.caller.userId, key: ctx.idempotencyKey, operation: 'contact-us', input: body };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      if ((await countRecentMessages(tx, ctx.caller.userId)) >= MESSAGES_PER_HOUR) {
        throw new AppError('rate_limited', {
          publicMessage: `You have sent ${MESSAGES_PER_HOUR} messages within an hour. Try again later`,
        });
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
  // Without a mail server, the message would be logged, although it is confidential.
  if (!ctx.config.mail) return;
  const text = `${username} <${email}> wrote:\n\n${message}\n\nAll messages: ${ctx.config.publicUrl}/operator/messages`;
  for (const to of ctx.config.operators)
    await sendMail(tx, ctx, { to, subject: `Message: ${subject}`, text });
}

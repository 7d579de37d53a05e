import type { listMessages as contract } from '@bakehouse/contract/contact';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findMessage, selectMessages } from './queries.ts';

/** Lists users' messages, newest first; for operators. The cursor is the previous page's last message. */
export async function listMessages(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { status, cursor, limit } = query;
  if (cursor !== undefined && !(await findMessage(ctx.db, cursor))) throw unknownCursor();
  const found = await selectMessages(ctx.db, { status, cursor, limit: limit + 1 });
  const messages = found.slice(0, limit);
  return { messages, next_cursor: found.length > limit ? (messages.at(-1)?.message_id ?? null) : null };
}

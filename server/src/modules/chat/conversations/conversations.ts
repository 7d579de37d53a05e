import * as contract from '@bakehouse/contract/conversations';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import {
  deleteConversations,
  deleteOldest,
  saveAtVersion,
  selectConversation,
  selectConversations,
} from './conversation-queries.ts';

const PAGE = 20;

/** The caller's conversation with a model. */
export async function getConversation(
  { db, config, caller }: Context,
  { query: { model: id } }: InputOf<typeof contract.getConversation>,
): Promise<ResponseOf<typeof contract.getConversation>> {
  const { keepConversations: is_kept } = config;
  const saved = is_kept ? await selectConversation(db, { userId: caller.userId, id }) : undefined;
  return {
    conversation: saved?.content ?? null,
    version: saved?.version ?? 0,
    save_id: saved?.saveId ?? null,
    is_kept,
  };
}

/** Saves it as the next version. Throws AppError 'conflict' where somebody else has saved it since, or none are kept here. */
export async function saveConversation(
  ctx: Context,
  {
    query: { model: id },
    body: { version, save_id: saveId, conversation },
  }: InputOf<typeof contract.saveConversation>,
): Promise<ResponseOf<typeof contract.saveConversation>> {
  if (!ctx.config.keepConversations)
    throw new AppError('conflict', { publicMessage: 'This server does not keep conversations' });
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const save = { userId, id, version, saveId, content: conversation, now: ctx.clock.now() };
    if (!(await saveAtVersion(tx, save))) {
      throw new AppError('conflict', {
        publicMessage: 'This conversation was changed in another tab or on another device',
      });
    }
    await deleteOldest(tx, {
      userId,
      keep: contract.CONVERSATIONS_MAX,
      bytes: contract.CONVERSATIONS_BYTES_MAX,
    });
    await publishChange(tx, userId, { topic: 'conversation', id });
  });
  return { version: version + 1 };
}

/** Deletes it, if there is one. */
export async function deleteConversation(
  ctx: Context,
  { query: { model: id } }: InputOf<typeof contract.deleteConversation>,
): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await deleteConversations(tx, { userId, id });
    await publishChange(tx, userId, { topic: 'conversation', id });
  });
}

/** Step: deletes the conversations of a deleted user. */
export async function forgetConversations(tx: Transaction, userId: string): Promise<void> {
  await deleteConversations(tx, { userId });
}

/** All of the caller's, for the export of their data. */
export async function* listConversations({ db, caller: { userId } }: Context) {
  for (let after = ''; ; ) {
    const page = await selectConversations(db, { userId, after, limit: PAGE });
    yield* page.map(({ id, content, saved_at }) => ({
      model: id,
      saved_at: saved_at.toISOString(),
      content,
    }));
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? '';
  }
}

import * as contract from '@bakehouse/contract/conversations';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import * as queries from './conversation-queries.ts';

const PAGE = 20;

/** Lists the caller's conversations with one model or all, without their content. */
export async function listConversations(
  { db, config, caller: { userId } }: Context,
  { query: { model } }: InputOf<typeof contract.listConversations>,
): Promise<ResponseOf<typeof contract.listConversations>> {
  const rows = config.keepConversations ? await queries.selectConversations(db, { userId, model }) : [];
  const conversations = rows.map(({ saved_at, ...row }) => ({ ...row, saved_at: saved_at.toISOString() }));
  return { conversations };
}

/** Returns one of the caller's conversations with a model. */
export async function getConversation(
  { db, config, caller: { userId } }: Context,
  { query: { model, id } }: InputOf<typeof contract.getConversation>,
): Promise<ResponseOf<typeof contract.getConversation>> {
  const none = { id: null, conversation: null, version: 0, save_id: null, is_kept: config.keepConversations };
  if (!none.is_kept) return none;
  const wanted = id?.toLowerCase() ?? null;
  const found = await queries.selectConversationOrNewest(db, { userId, model, id: wanted });
  if (!found) return none;
  if (wanted !== null && found.id !== wanted)
    return { ...none, conversation: { turns: [], unanswered: '', settings: found.content.settings } };
  return {
    ...none,
    id: found.id,
    conversation: found.content,
    version: found.version,
    save_id: found.saveId,
  };
}

/**
 * Saves the conversation as the next version. Throws AppError 'conflict' if another save came first, or if
 * this server saves no conversations.
 */
export async function saveConversation(
  ctx: Context,
  {
    query: { model, id },
    body: { version, save_id: saveId, conversation },
  }: InputOf<typeof contract.saveConversation>,
): Promise<ResponseOf<typeof contract.saveConversation>> {
  if (!ctx.config.keepConversations) throw conflict('This server does not keep conversations');
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const save = { userId, model, id, version, saveId, content: conversation, now: ctx.clock.now() };
    if (!(await queries.saveAtVersion(tx, save))) {
      throw conflict('This conversation was changed in another tab or on another device');
    }
    await queries.deleteOldest(tx, {
      userId,
      keep: contract.CONVERSATIONS_MAX,
      bytes: contract.CONVERSATIONS_BYTES_MAX,
    });
    await publishChange(tx, userId, { topic: 'conversation', id });
  });
  return { version: version + 1 };
}

/** Deletes the conversation, if it exists. */
export async function deleteConversation(
  ctx: Context,
  { query: { model, id } }: InputOf<typeof contract.deleteConversation>,
): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await queries.deleteConversation(tx, { userId, model, id });
    await publishChange(tx, userId, { topic: 'conversation', id });
  });
}

/** Step: deletes the conversations of a deleted user. */
export async function deleteUserConversations(tx: Transaction, userId: string): Promise<void> {
  await queries.deleteConversationsOf(tx, userId);
}

/** Yields all of the caller's conversations with their content, for the data export. */
export async function* exportConversations({ db, caller: { userId } }: Context) {
  for (let after: { model: string; id: string } | null = null; ; ) {
    const page = await queries.selectWholeConversations(db, { userId, after, limit: PAGE });
    yield* page.map(({ saved_at, ...row }) => ({ ...row, saved_at: saved_at.toISOString() }));
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = { model: last.model, id: last.id };
  }
}

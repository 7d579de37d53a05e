import { randomUUID } from 'node:crypto';
import { DRAFTS_MAX, type Draft } from '@bakehouse/contract/drafts';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { chargeAnswers } from '../batches/hold-for-answers.ts';
import { isRunning } from './drafts-table.ts';
import { lockOwnDraft, lockRestingDraft } from './find-draft.ts';
import * as queries from './queries.ts';
import { getDraft } from './read-drafts.ts';

/** Creates an empty draft. Throws AppError 'conflict' if the caller has too many. */
export async function createDraft(ctx: Context): Promise<Draft> {
  const { userId } = ctx.caller;
  const id = randomUUID();
  await inTransaction(ctx.db, async (tx) => {
    if ((await queries.countDrafts(tx, userId)) >= DRAFTS_MAX)
      throw new AppError('conflict', {
        publicMessage: `You can have ${DRAFTS_MAX} drafts. Delete one that you have saved.`,
      });
    await queries.insertDraft(tx, { id, userId, now: ctx.clock.now() });
    await publishChange(tx, userId, { topic: 'draft', id });
  });
  return getDraft(ctx, id);
}

/** Ends a draft with the rows it has; does nothing if it is not running. */
export async function cancelDraft(ctx: Context, id: string): Promise<Draft> {
  await inTransaction(ctx.db, async (tx) => {
    const row = await lockOwnDraft(tx, ctx, id);
    if (!isRunning(row) || row.cancelled_at) return;
    await queries.noteCancelled(tx, id, ctx.clock.now());
    await publishChange(tx, row.user_id, { topic: 'draft', id });
  });
  return getDraft(ctx, id);
}

/** Deletes a draft that is not running, with its documents and rows. */
export async function deleteDraft(ctx: Context, id: string): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockRestingDraft(tx, ctx, id);
    await queries.deleteDraftOf(tx, id);
    await publishChange(tx, userId, { topic: 'draft', id });
  });
}

/** Removes a document from a draft that is not running, with the rows written from it. */
export async function removeDocument(
  ctx: Context,
  { draftId, documentId }: { draftId: string; documentId: string },
): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockRestingDraft(tx, ctx, draftId);
    if (!(await queries.deleteDocument(tx, { draftId, id: documentId })))
      throw new AppError('not_found', {
        publicMessage: 'No document of the draft has this id',
        param: 'document_id',
      });
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
  });
}

/** Step: charges a deleted user's running drafts for their completed answers, and deletes all drafts. */
export async function forgetDrafts(tx: Transaction, userId: string): Promise<void> {
  for (const draft of await queries.lockDraftsOf(tx, userId)) {
    if (isRunning(draft)) await chargeAnswers(tx, draft);
    await queries.deleteDraftOf(tx, draft.id);
  }
}

import type * as contract from '@bakehouse/contract/drafts';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findOwnDraft, lockOwnDraft } from '../find-draft.ts';
import { toWireRow } from '../to-wire.ts';
import * as queries from './row-queries.ts';

/**
 * Returns the rows of a draft of the caller in document order; the cursor is the last row of the previous
 * page.
 */
export async function listRows(
  ctx: Context,
  {
    params: { draft_id: draftId },
    query: { document_id: documentId, cursor, limit },
  }: InputOf<typeof contract.listDraftRows>,
): Promise<ResponseOf<typeof contract.listDraftRows>> {
  await findOwnDraft(ctx, draftId);
  const after = cursor === undefined ? null : await queries.findPlace(ctx.db, draftId, cursor);
  if (after === undefined) throw unknownCursor();
  const found = await queries.selectRows(ctx.db, draftId, {
    documentId: documentId ?? null,
    after,
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  return {
    rows: page.map(toWireRow),
    next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Returns the source text of a chunk's rows. */
export async function getChunk(
  ctx: Context,
  { params: { draft_id: draftId, number } }: InputOf<typeof contract.getChunk>,
): Promise<ResponseOf<typeof contract.getChunk>> {
  await findOwnDraft(ctx, draftId);
  const chunk = await queries.findChunk(ctx.db, draftId, number);
  if (!chunk)
    throw new AppError('not_found', { publicMessage: 'The draft has no such chunk', param: 'number' });
  return chunk;
}

/**
 * Changes a row of a draft of the caller. Throws AppError 'conflict' for a row that is already in a dataset.
 */
export async function changeRow(
  ctx: Context,
  { params: { draft_id: draftId, row_id: rowId }, body }: InputOf<typeof contract.changeDraftRow>,
): Promise<ResponseOf<typeof contract.changeDraftRow>> {
  return inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockOwnDraft(tx, ctx, draftId);
    const isChanged = await queries.updateRow(tx, { draftId, rowId, ...body });
    const row = await queries.findRow(tx, draftId, rowId);
    if (!row)
      throw new AppError('not_found', { publicMessage: 'The draft has no such row', param: 'row_id' });
    if (!isChanged)
      throw new AppError('conflict', {
        publicMessage: 'The row is saved in a dataset already',
        param: 'row_id',
      });
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
    return toWireRow(row);
  });
}

/** Deletes rows of a draft of the caller; ignores unknown ids. */
export async function deleteRows(
  ctx: Context,
  { params: { draft_id: draftId }, body: { row_ids: rowIds } }: InputOf<typeof contract.deleteDraftRows>,
): Promise<ResponseOf<typeof contract.deleteDraftRows>> {
  return inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockOwnDraft(tx, ctx, draftId);
    const deleted = await queries.deleteRows(tx, draftId, rowIds);
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
    return { deleted };
  });
}

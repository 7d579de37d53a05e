import type * as contract from '@bakehouse/contract/drafts';
import { DOCUMENTS_FILE, type saveDraftRows as saveDraftRowsEndpoint } from '@bakehouse/contract/drafts';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidParam, notFound, unknownCursor } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { addLines } from '../../datasets/chats/add-chat-row.ts';
import { findUserDraft, lockUserDraft, toWireRow } from '../drafts.ts';
import * as queries from './row-queries.ts';
import { markRowsSaved, type SourcedRow, selectUnsaved } from './row-queries.ts';

/**
 * Returns the rows of a caller's draft in document order. The cursor is the last row of the previous page.
 */
export async function listRows(
  ctx: Context,
  {
    params: { draft_id: draftId },
    query: { document_id: documentId, cursor, limit },
  }: InputOf<typeof contract.listDraftRows>,
): Promise<ResponseOf<typeof contract.listDraftRows>> {
  await findUserDraft(ctx, draftId);
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
  await findUserDraft(ctx, draftId);
  const chunk = await queries.findChunk(ctx.db, draftId, number);
  if (!chunk) throw notFound('Chunk', 'number');
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
    const { user_id: userId } = await lockUserDraft(tx, ctx, draftId);
    const isChanged = await queries.updateRow(tx, { draftId, rowId, ...body });
    const row = await queries.findRow(tx, draftId, rowId);
    if (!row) throw notFound('Row', 'row_id');
    if (!isChanged) throw conflict('The row is saved in a dataset already', { param: 'row_id' });
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
    return toWireRow(row);
  });
}

/**
 * Saves rows of a caller's draft in one of the caller's datasets. Rows that are already saved are skipped.
 * Throws AppError 'not_found', 'invalid_request' if no row is left to save, and the errors of `addLines`.
 */
export async function saveRows(
  ctx: Context,
  input: InputOf<typeof saveDraftRowsEndpoint>,
): Promise<ResponseOf<typeof saveDraftRowsEndpoint>> {
  const {
    params: { draft_id: draftId },
    body: { asset_id: assetId, row_ids: rowIds },
  } = input;
  await findUserDraft(ctx, draftId);
  return addLines(ctx, {
    ...{ assetId, field: 'asset_id', path: DOCUMENTS_FILE, call: { operation: 'save-draft-rows', input } },
    lines: async () => {
      const rows = await selectUnsaved(ctx.db, draftId, rowIds);
      if (rows.length === 0) throw invalidParam('row_ids', 'These rows are saved already');
      return { text: rows.map(toLine).join(''), kept: rows };
    },
    message: (rows) => `Add ${rows.length} rows from documents`,
    commit: async (tx, rows, commitId) => {
      const { user_id: userId } = await lockUserDraft(tx, ctx, draftId);
      const saved = await markRowsSaved(tx, { draftId, rows, assetId });
      if (saved < rows.length)
        throw invalidParam('row_ids', 'The rows have changed. Review them, then save again.');
      await publishChange(tx, userId, { topic: 'draft', id: draftId });
      return { commit_id: commitId, file_name: DOCUMENTS_FILE, saved };
    },
  });
}

function toLine({ question, answer, source }: SourcedRow): string {
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  return `${JSON.stringify({ messages, source })}\n`;
}

/** Deletes rows of a draft of the caller; ignores unknown ids. */
export async function deleteRows(
  ctx: Context,
  { params: { draft_id: draftId }, body: { row_ids: rowIds } }: InputOf<typeof contract.deleteDraftRows>,
): Promise<ResponseOf<typeof contract.deleteDraftRows>> {
  return inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockUserDraft(tx, ctx, draftId);
    const deleted = await queries.deleteRows(tx, draftId, rowIds);
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
    return { deleted };
  });
}

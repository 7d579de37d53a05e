import { DOCUMENTS_FILE, type saveDraftRows as endpoint } from '@bakehouse/contract/drafts';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { addLines } from '../../datasets/chats/add-lines.ts';
import { findOwnDraft, lockOwnDraft } from '../find-draft.ts';
import { noteSaved, type SourcedRow, selectUnsaved } from './row-queries.ts';

/**
 * Saves rows of a draft of the caller in one of their datasets, each once. Throws AppError 'not_found',
 * 'invalid_request' if there are no rows left to save, and the errors of `addLines`.
 */
export async function saveRows(
  ctx: Context,
  input: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const {
    params: { draft_id: draftId },
    body: { asset_id: assetId, row_ids: rowIds },
  } = input;
  await findOwnDraft(ctx, draftId);
  return addLines(ctx, {
    ...{ assetId, field: 'asset_id', path: DOCUMENTS_FILE, call: { operation: 'save-draft-rows', input } },
    lines: async () => {
      const rows = await selectUnsaved(ctx.db, draftId, rowIds);
      if (rows.length === 0) throw refused('row_ids', 'These rows are saved already');
      return { text: rows.map(toLine).join(''), kept: rows };
    },
    message: (rows) => `Add ${rows.length} rows from documents`,
    commit: async (tx, rows, commitId) => {
      const { user_id: userId } = await lockOwnDraft(tx, ctx, draftId);
      const saved = await noteSaved(tx, { draftId, rows, assetId });
      if (saved < rows.length)
        throw refused('row_ids', 'The rows have changed meanwhile. Look through them, and save again.');
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

import type { Draft } from '@bakehouse/contract/drafts';
import type { Context } from '../../platform/context.ts';
import type { DraftRow } from './drafts-table.ts';
import { findOwnDraft } from './find-draft.ts';
import { countRows, selectDocuments, selectDrafts, selectTexts } from './queries.ts';
import { selectUnsaved } from './rows/row-queries.ts';
import { toDraft } from './to-wire.ts';

/** Returns a draft of the caller. Throws AppError 'not_found'. */
export async function getDraft(ctx: Context, id: string): Promise<Draft> {
  const [draft] = await describe(ctx, [await findOwnDraft(ctx, id)]);
  return draft as Draft;
}

/** Returns the caller's drafts, newest first. */
export async function listDrafts(ctx: Context): Promise<{ drafts: Draft[] }> {
  return { drafts: await describe(ctx, await selectDrafts(ctx.db, ctx.caller.userId)) };
}

/** Yields all drafts of the caller with their texts and unsaved rows, for the export of their data. */
export async function* exportDrafts(ctx: Context) {
  const { drafts } = await listDrafts(ctx);
  for (const draft of drafts) {
    const rows = await selectUnsaved(ctx.db, draft.draft_id, undefined);
    const texts = await selectTexts(ctx.db, draft.draft_id);
    yield {
      ...draft,
      texts: texts.map(({ name, sections }) => ({
        name,
        text: sections.map(({ text }) => text).join('\n\n'),
      })),
      unsaved_rows: rows.map(({ question, answer, source }) => ({ question, answer, source })),
    };
  }
}

async function describe({ db }: Pick<Context, 'db'>, rows: DraftRow[]): Promise<Draft[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const documents = Map.groupBy(await selectDocuments(db, ids), ({ draft_id: id }) => id);
  const counted = new Map((await countRows(db, ids)).map((one) => [one.draftId, one]));
  return rows.map((row) => toDraft(row, documents.get(row.id) ?? [], counted.get(row.id)));
}

import { randomUUID } from 'node:crypto';
import {
  DRAFTS_MAX,
  type Draft,
  type DraftDocument,
  type DraftRow as WireRow,
} from '@bakehouse/contract/drafts';
import { formatBgl, smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { type AppError, conflict, unknownId } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import {
  cancelAnswers,
  countBulk,
  findBulk,
  insertBulk,
  lockBulk,
  selectBulk,
} from '../batches/bulk-answers.ts';
import { type DraftRow, isRunning } from '../batches/bulk-table.ts';
import * as queries from './queries.ts';
import { type Counted, countRows, type DocumentRow, selectDocuments, selectTexts } from './queries.ts';
import { type SourcedRow, selectUnsaved } from './rows/row-queries.ts';

/** Creates an empty draft. Throws AppError 'conflict' if the caller has too many. */
export async function createDraft(ctx: Context): Promise<Draft> {
  const { userId } = ctx.caller;
  const id = randomUUID();
  await inTransaction(ctx.db, async (tx) => {
    await lockBulk(tx, 'draft', userId);
    if ((await countBulk(tx, 'draft', { userId })) >= DRAFTS_MAX)
      throw conflict(`You can have ${DRAFTS_MAX} drafts. Delete a saved draft.`);
    await insertBulk(tx, { id, kind: 'draft', user_id: userId, created_at: ctx.clock.now() });
    await publishChange(tx, userId, { topic: 'draft', id });
  });
  return getDraft(ctx, id);
}

type Caller = Pick<Context, 'caller'>;

/** Returns a draft of the caller. Throws AppError 'not_found'. */
export async function findUserDraft(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  id: string,
): Promise<DraftRow> {
  const row = await findBulk(db, 'draft', { userId: caller.userId, id });
  if (!row) throw noDraft();
  return row;
}

/** Returns a draft of the caller. Throws AppError 'not_found'. */
export async function getDraft(ctx: Context, id: string): Promise<Draft> {
  const [draft] = await describe(ctx, [await findUserDraft(ctx, id)]);
  return draft as Draft;
}

/** Returns the caller's drafts, newest first. */
export async function listDrafts(ctx: Context): Promise<{ drafts: Draft[] }> {
  const { userId } = ctx.caller;
  return { drafts: await describe(ctx, await selectBulk(ctx.db, 'draft', { userId, limit: DRAFTS_MAX })) };
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

/** Returns a draft for the API. */
function toDraft(row: DraftRow, documents: DocumentRow[], counted: Counted | undefined): Draft {
  return {
    draft_id: row.id,
    status: statusOf(row),
    documents: documents.map(toDocument),
    settings: row.settings,
    chunks: row.total,
    chunks_done: row.completed + row.failed,
    chunks_failed: row.failed,
    current_document: isRunning(row) ? (counted?.current ?? null) : null,
    rows: counted?.rows ?? 0,
    rows_saved: counted?.saved ?? 0,
    dropped: row.dropped,
    error: row.error,
    held: formatBgl(isRunning(row) ? row.held_micro : 0n),
    cost_so_far: formatBgl(row.charged_micro + smallerAmount(row.cost_micro, row.held_micro)),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function statusOf({ started_at: startedAt, cancelled_at: cancelledAt, outcome }: DraftRow): Draft['status'] {
  if (startedAt === null) return 'open';
  return outcome ?? (cancelledAt ? 'cancelling' : 'running');
}

export function toDocument({
  id,
  name,
  pages,
  empty_pages,
  characters,
}: Omit<DocumentRow, 'draft_id'>): DraftDocument {
  return { document_id: id, name, pages, empty_pages, characters };
}

export function toWireRow({ id, ...row }: SourcedRow): WireRow {
  return { row_id: id, ...row };
}

/** Locks and returns a draft of the caller until the transaction ends. Throws AppError 'not_found'. */
export async function lockUserDraft(tx: Transaction, { caller }: Caller, id: string): Promise<DraftRow> {
  const row = await findBulk(tx, 'draft', { userId: caller.userId, id, lock: true });
  if (!row) throw noDraft();
  return row;
}

/** Like `lockUserDraft`, for a draft that is not running. Throws AppError 'conflict' if it is. */
export async function lockIdleDraft(tx: Transaction, ctx: Caller, id: string): Promise<DraftRow> {
  const row = await lockUserDraft(tx, ctx, id);
  if (isRunning(row))
    throw conflict('The draft is being written. Wait until it has ended, or cancel it first.');
  return row;
}

function noDraft(): AppError {
  return unknownId('draft', 'draft_id');
}

/** Ends a draft with the rows it has; does nothing if it is not running. */
export async function cancelDraft(ctx: Context, id: string): Promise<Draft> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    if (await cancelAnswers(tx, 'draft', { userId, id, now: ctx.clock.now() }))
      await publishChange(tx, userId, { topic: 'draft', id });
  });
  return getDraft(ctx, id);
}

/** Deletes a draft that is not running, with its documents and rows. */
export async function deleteDraft(ctx: Context, id: string): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    const { user_id: userId } = await lockIdleDraft(tx, ctx, id);
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
    const { user_id: userId } = await lockIdleDraft(tx, ctx, draftId);
    if (!(await queries.deleteDocument(tx, { draftId, id: documentId })))
      throw unknownId('document of the draft', 'document_id');
    await publishChange(tx, userId, { topic: 'draft', id: draftId });
  });
}

import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

type Db = Database | Transaction;

/** A row with its source. */
export type SourcedRow = {
  id: string;
  question: string;
  answer: string;
  source: string;
  document_id: string;
  chunk: number;
  saved_in: string | null;
};

const sourced = (db: Db, draftId: string) =>
  db
    .selectFrom('draft_rows as row')
    .innerJoin('draft_chunks as chunk', (join) =>
      join.onRef('chunk.draft_id', '=', 'row.draft_id').onRef('chunk.number', '=', 'row.chunk'),
    )
    .select([
      ...(['row.id', 'row.question', 'row.answer', 'row.chunk', 'row.saved_in'] as const),
      ...(['chunk.source', 'chunk.document_id'] as const),
    ])
    .where('row.draft_id', '=', draftId);

type Page = { documentId: string | null; after: SourcedPlace | null; limit: number };
export type SourcedPlace = { chunk: number; position: number };

/** Returns rows in document order, starting after a position. */
export async function selectRows(
  db: Db,
  draftId: string,
  { documentId, after, limit }: Page,
): Promise<SourcedRow[]> {
  return sourced(db, draftId)
    .$if(documentId !== null, (query) => query.where('chunk.document_id', '=', documentId))
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(row.chunk, row.position) > (${after?.chunk}::int, ${after?.position}::int)`),
    )
    .orderBy('row.chunk')
    .orderBy('row.position')
    .limit(limit)
    .execute();
}

export async function findPlace(db: Db, draftId: string, rowId: string): Promise<SourcedPlace | undefined> {
  return db
    .selectFrom('draft_rows')
    .select(['chunk', 'position'])
    .where('draft_id', '=', draftId)
    .where('id', '=', rowId)
    .executeTakeFirst();
}

/** Updates the row unless it is already saved. Returns false otherwise. */
export async function updateRow(
  tx: Transaction,
  { draftId, rowId, ...texts }: { draftId: string; rowId: string; question: string; answer: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('draft_rows')
    .set(texts)
    .where('draft_id', '=', draftId)
    .where('id', '=', rowId)
    .where('saved_in', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function findRow(db: Db, draftId: string, rowId: string): Promise<SourcedRow | undefined> {
  return sourced(db, draftId).where('row.id', '=', rowId).executeTakeFirst();
}

export async function deleteRows(tx: Transaction, draftId: string, rowIds: string[]): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('draft_rows')
    .where('draft_id', '=', draftId)
    .where('id', 'in', rowIds)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Returns unsaved rows in document order: all, or only these ids. */
export async function selectUnsaved(
  db: Db,
  draftId: string,
  rowIds: string[] | undefined,
): Promise<SourcedRow[]> {
  return sourced(db, draftId)
    .where('row.saved_in', 'is', null)
    .$if(rowIds !== undefined, (query) => query.where('row.id', 'in', rowIds ?? []))
    .orderBy('row.chunk')
    .orderBy('row.position')
    .execute();
}

/** Marks rows as saved if they are unchanged and unsaved. Returns how many. */
export async function markRowsSaved(
  tx: Transaction,
  { draftId, rows, assetId }: { draftId: string; rows: SourcedRow[]; assetId: string },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update draft_rows set saved_in = ${assetId}
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ question }) => question)}::text[],
      ${rows.map(({ answer }) => answer)}::text[]
    ) as read (id, question, answer)
    where draft_rows.draft_id = ${draftId} and draft_rows.id = read.id and draft_rows.saved_in is null
      and draft_rows.question = read.question and draft_rows.answer = read.answer`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

export async function findChunk(
  db: Db,
  draftId: string,
  number: number,
): Promise<{ source: string; text: string } | undefined> {
  return db
    .selectFrom('draft_chunks')
    .select(['source', 'content as text'])
    .where('draft_id', '=', draftId)
    .where('number', '=', number)
    .executeTakeFirst();
}

/** Returns the questions of all rows. */
export async function selectQuestions(db: Db, draftId: string): Promise<string[]> {
  const rows = await db.selectFrom('draft_rows').select('question').where('draft_id', '=', draftId).execute();
  return rows.map(({ question }) => question);
}

import type { DropReason } from '@bakehouse/contract/drafts';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { Progress } from '../batches/bulk-answers.ts';
import type { DraftRow } from '../batches/bulk-table.ts';
import type { Section } from './documents/sections.ts';

type Db = Database | Transaction;

export type DocumentRow = {
  id: string;
  draft_id: string;
  name: string;
  pages: number | null;
  empty_pages: number;
  characters: number;
};

export async function deleteDraftOf(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('bulk_answers').where('id', '=', id).execute();
}

export async function insertDocument(
  tx: Transaction,
  { sections, ...row }: DocumentRow & { sections: Section[] },
): Promise<void> {
  await tx
    .insertInto('draft_documents')
    .values({ ...row, sections: toJson(sections) })
    .execute();
}

/** Returns the documents of drafts in insertion order, without their texts. */
export async function selectDocuments(db: Db, draftIds: string[]): Promise<DocumentRow[]> {
  return db
    .selectFrom('draft_documents')
    .select(['id', 'draft_id', 'name', 'pages', 'empty_pages', 'characters'])
    .where('draft_id', 'in', draftIds)
    .orderBy('number')
    .execute();
}

/** Returns the documents of one draft with their texts. */
export async function selectTexts(
  db: Db,
  draftId: string,
): Promise<{ id: string; name: string; sections: Section[] }[]> {
  const rows = await db
    .selectFrom('draft_documents')
    .select(['id', 'name', 'sections'])
    .where('draft_id', '=', draftId)
    .orderBy('number')
    .execute();
  return rows.map((row) => ({ ...row, sections: row.sections as Section[] }));
}

/** Deletes a document. Returns false if it does not exist. */
export async function deleteDocument(
  tx: Transaction,
  { draftId, id }: { draftId: string; id: string },
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('draft_documents')
    .where('draft_id', '=', draftId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export type NewChunk = { number: number; documentId: string; source: string; text: string };
export type OpenChunk = { number: number; text: string };

/** Chunks inserted per statement. */
const CHUNKS_AT_ONCE = 500;

/** Replaces the chunks of a draft and deletes the rows of the old ones. */
export async function replaceChunks(tx: Transaction, id: string, chunks: NewChunk[]): Promise<void> {
  await tx.deleteFrom('draft_chunks').where('draft_id', '=', id).execute();
  for (let from = 0; from < chunks.length; from += CHUNKS_AT_ONCE) {
    const some = chunks.slice(from, from + CHUNKS_AT_ONCE);
    await sql`
      insert into draft_chunks (draft_id, number, document_id, source, content)
      select ${id}, number, document_id, source, content from unnest(
        ${some.map(({ number }) => number)}::int[],
        ${some.map(({ documentId }) => documentId)}::uuid[],
        ${some.map(({ source }) => source)}::text[],
        ${some.map(({ text }) => text)}::text[]
      ) as chunk (number, document_id, source, content)`.execute(tx);
  }
}

/** Reopens the failed chunks, so that the model is asked about them again. */
export async function reopenChunks(tx: Transaction, id: string): Promise<void> {
  await tx
    .updateTable('draft_chunks')
    .set({ state: 'open' })
    .where('draft_id', '=', id)
    .where('state', '=', 'failed')
    .execute();
}

/** Returns up to `limit` chunks that have not been sent to the model. */
export async function selectOpenChunks(db: Db, id: string, limit: number): Promise<OpenChunk[]> {
  return selectChunks(db, id, ['open']).limit(limit).execute();
}

/** Returns all chunks without an answer. */
export async function selectUnanswered(db: Db, id: string): Promise<OpenChunk[]> {
  return selectChunks(db, id, ['open', 'failed']).execute();
}

function selectChunks(db: Db, id: string, states: ('open' | 'failed')[]) {
  return db
    .selectFrom('draft_chunks')
    .select(['number', 'content as text'])
    .where('draft_id', '=', id)
    .where('state', 'in', states)
    .orderBy('number');
}

/** Result of a chunk: its rows, or why there are none. */
export type ChunkResult = {
  number: number;
  rows: { question: string; answer: string }[];
  dropped: Partial<Record<DropReason, number>>;
  error: string | null;
  costMicro: bigint;
};

/** Saves the results of chunks. */
export async function saveChunkResults(
  tx: Transaction,
  draft: DraftRow,
  results: ChunkResult[],
): Promise<Progress> {
  const rows = results.flatMap(({ number, rows: found }) =>
    found.map((row, position) => ({ draft_id: draft.id, chunk: number, position, ...row })),
  );
  if (rows.length > 0) await tx.insertInto('draft_rows').values(rows).execute();
  const failed = results.filter(({ error }) => error !== null);
  await sql`
    update draft_chunks set state = case when number = any(${failed.map(({ number }) => number)}::int[]) then 'failed'
      else 'answered' end
    where draft_id = ${draft.id} and number = any(${results.map(({ number }) => number)}::int[])`.execute(tx);
  return {
    completed: results.length - failed.length,
    failed: failed.length,
    costMicro: results.reduce((sum, { costMicro }) => sum + costMicro, 0n),
    changes: {
      dropped: toJson(results.reduce((sum, { dropped }) => addCounts(sum, dropped), draft.dropped)),
      error: failed.at(-1)?.error ?? draft.error,
    },
  };
}

type Counts = Partial<Record<DropReason, number>>;

function addCounts(one: Counts, other: Counts): Counts {
  const sum = { ...one };
  for (const [reason, count] of Object.entries(other) as [DropReason, number][])
    sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}

export type Counted = { draftId: string; rows: number; saved: number; current: string | null };

/** Returns the number of rows per draft, and the name of the document being read. */
export async function countRows(db: Db, draftIds: string[]): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    select draft.id as "draftId",
      (select count(*)::int from draft_rows where draft_id = draft.id) as rows,
      (select count(*)::int from draft_rows where draft_id = draft.id and saved_in is not null) as saved,
      (select document.name from draft_chunks chunk join draft_documents document on document.id = chunk.document_id
        where chunk.draft_id = draft.id and chunk.state = 'open' order by chunk.number limit 1) as current
    from unnest(${draftIds}::uuid[]) as draft (id)`.execute(db);
  return rows;
}

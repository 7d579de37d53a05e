import type { DraftSettings, DropReason } from '@bakehouse/contract/drafts';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { Section } from './documents/sections.ts';
import { type DraftRow, toRow } from './drafts-table.ts';

type Db = Database | Transaction;

export type DocumentRow = {
  id: string;
  draft_id: string;
  name: string;
  pages: number | null;
  empty_pages: number;
  characters: number;
};

/** Counts the user's drafts, and serialises their creation until the transaction ends. */
export async function countDrafts(tx: Transaction, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`drafts of ${userId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('drafts')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertDraft(
  tx: Transaction,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<void> {
  await tx.insertInto('drafts').values({ id, user_id: userId, created_at: now, check_at: now }).execute();
}

/** Returns a user's draft, optionally locked until the transaction ends. */
export async function findDraft(
  db: Db,
  { userId, id, lock = false }: { userId: string; id: string; lock?: boolean },
): Promise<DraftRow | undefined> {
  const row = await db
    .selectFrom('drafts')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .$if(lock, (query) => query.forUpdate())
    .executeTakeFirst();
  return row && toRow(row);
}

/** Returns a user's drafts, newest first. */
export async function selectDrafts(db: Db, userId: string): Promise<DraftRow[]> {
  const rows = await db
    .selectFrom('drafts')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toRow);
}

export async function deleteDraftOf(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('drafts').where('id', '=', id).execute();
}

/** Locks and returns the drafts of a user until the transaction ends. */
export async function lockDraftsOf(tx: Transaction, userId: string): Promise<DraftRow[]> {
  const rows = await tx
    .selectFrom('drafts')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(toRow);
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

/** Returns true if it existed. */
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

/** Reopens the unanswered chunks. */
export async function reopenChunks(tx: Transaction, id: string): Promise<void> {
  await tx
    .updateTable('draft_chunks')
    .set({ state: 'open' })
    .where('draft_id', '=', id)
    .where('state', '=', 'failed')
    .execute();
}

export type Start = Pick<
  DraftRow,
  | 'prices'
  | 'key_id'
  | 'hold_id'
  | 'held_micro'
  | 'charged_micro'
  | 'chunks'
  | 'chunks_done'
  | 'dropped'
  | 'started_at'
  | 'expires_at'
> & { settings: DraftSettings };

/** Records that the draft is running. */
export async function recordDraftStart(
  tx: Transaction,
  id: string,
  { settings, prices, dropped, ...start }: Start,
): Promise<void> {
  await tx
    .updateTable('drafts')
    .set({
      ...{ ...start, settings: toJson(settings), prices: toJson(prices), dropped: toJson(dropped) },
      ...{ cost_micro: 0n, chunks_failed: 0, error: null, check_at: start.started_at ?? undefined },
      ...{ cancelled_at: null, ended_at: null, outcome: null },
    })
    .where('id', '=', id)
    .execute();
}

/** Records that the draft must end, and schedules it for an early check. */
export async function noteCancelled(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.updateTable('drafts').set({ cancelled_at: now, check_at: now }).where('id', '=', id).execute();
}

/** Returns the first chunks that the model has not been asked about. */
export async function selectOpenChunks(db: Db, id: string, limit: number): Promise<OpenChunk[]> {
  return selectChunks(db, id, ['open']).limit(limit).execute();
}

/** Returns all unanswered chunks. */
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

/** Saves the results of chunks with their cost. */
export async function saveChunkResults(
  tx: Transaction,
  draft: DraftRow,
  results: ChunkResult[],
): Promise<void> {
  const rows = results.flatMap(({ number, rows: found }) =>
    found.map((row, position) => ({ draft_id: draft.id, chunk: number, position, ...row })),
  );
  if (rows.length > 0) await tx.insertInto('draft_rows').values(rows).execute();
  const failed = results.filter(({ error }) => error !== null);
  await sql`
    update draft_chunks set state = case when number = any(${failed.map(({ number }) => number)}::int[]) then 'failed'
      else 'answered' end
    where draft_id = ${draft.id} and number = any(${results.map(({ number }) => number)}::int[])`.execute(tx);
  await tx
    .updateTable('drafts')
    .set({
      chunks_done: draft.chunks_done + results.length,
      chunks_failed: draft.chunks_failed + failed.length,
      cost_micro: results.reduce((sum, { costMicro }) => sum + costMicro, draft.cost_micro),
      dropped: toJson(results.reduce((sum, { dropped }) => addCounts(sum, dropped), draft.dropped)),
      error: failed.at(-1)?.error ?? draft.error,
    })
    .where('id', '=', draft.id)
    .execute();
}

type Counts = Partial<Record<DropReason, number>>;

function addCounts(one: Counts, other: Counts): Counts {
  const sum = { ...one };
  for (const [reason, count] of Object.entries(other) as [DropReason, number][])
    sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}

/** Records the end and releases the lease, so that the draft can be restarted immediately. */
export async function noteEnd(
  tx: Transaction,
  id: string,
  end: Pick<DraftRow, 'outcome' | 'ended_at' | 'error'>,
): Promise<void> {
  await tx
    .updateTable('drafts')
    .set({ ...end, lock_token: null, locked_until: null })
    .where('id', '=', id)
    .execute();
}

export type Counted = { draftId: string; rows: number; saved: number; current: string | null };

/** Returns the number of rows per draft, and the document being read. */
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

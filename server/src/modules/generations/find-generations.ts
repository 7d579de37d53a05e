import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { type GenerationRow, type OutputRow, type SameRequest, toRow } from './queries.ts';

type Db = Database | Transaction;

type Own = { id: string; userId: string };

/** Returns the newest generation that the same request started. */
export async function findByRequest(
  db: Db,
  { userId, requestSha256 }: SameRequest,
): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('request_sha256', '=', requestSha256)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toRow(row);
}

export async function findGeneration(db: Db, { id, userId }: Own): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generations')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && toRow(row);
}

/** Returns the user's generations among these ids, by id. */
export async function findGenerations(
  db: Db,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Map<string, GenerationRow>> {
  const rows = await db
    .selectFrom('generations')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('user_id', '=', userId)
    .execute();
  return new Map(rows.map((row) => [row.id, toRow(row)]));
}

/** Returns the outputs of each generation. */
export async function findOutputs(db: Db, generationIds: string[]): Promise<Map<string, OutputRow[]>> {
  const rows = await db
    .selectFrom('generation_outputs')
    .selectAll()
    .where('generation_id', '=', sql<string>`any(${generationIds}::uuid[])`)
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, (row) => row.generation_id);
}

/** Returns the id of the generation that made the output. */
export async function findGenerationOfOutput(db: Db, { id, userId }: Own): Promise<string | undefined> {
  const row = await db
    .selectFrom('generation_outputs')
    .select('generation_id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.generation_id;
}

import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { isReadableBy } from './readable.ts';

/** Returns the ids of assets that exist and that the user may read. */
export async function selectReadableIds(
  db: Database | Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('assets')
    .select('id')
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .where(isReadableBy(userId))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { isNameTaken, type RepositoryType } from './repository-queries.ts';

/**
 * Step: returns true if a user's asset may get this name. The lock serialises names of a user, including
 * names from `pick_asset_name()`.
 */
export async function takeName(
  tx: Transaction,
  wanted: { userId: string; type: RepositoryType; name: string },
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asset_name:${wanted.userId}`}, 0))`.execute(tx);
  return !(await isNameTaken(tx, wanted));
}

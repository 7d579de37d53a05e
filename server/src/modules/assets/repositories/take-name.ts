import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { isNameTaken, type RepositoryType } from './repository-queries.ts';

/**
 * Step of the transaction that gives a user's asset this name: false where another has it. Names of a user are taken one
 * after the other, those that `pick_asset_name()` picks too.
 */
export async function takeName(
  tx: Transaction,
  wanted: { userId: string; type: RepositoryType; name: string },
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asset_name:${wanted.userId}`}, 0))`.execute(tx);
  return !(await isNameTaken(tx, wanted));
}

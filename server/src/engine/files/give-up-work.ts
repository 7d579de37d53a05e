import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { wakeEngines } from '../queries.ts';

/** Step: nobody resumes the workloads of the user any more. What they have printed goes with their files, once they have ended. */
export async function giveUpWork(tx: Transaction, userId: string): Promise<void> {
  const { numAffectedRows } = await sql`
    update workloads set given_up = true where user_id = ${userId} and not given_up`.execute(tx);
  if (numAffectedRows) await wakeEngines(tx);
}

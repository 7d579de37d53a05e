import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { wakeEngines } from '../queries.ts';

/** Step: nobody resumes the ended workloads of the user any more. What they have printed goes at once, their files with the next pass. */
export async function giveUpWork(tx: Transaction, userId: string): Promise<void> {
  const { numAffectedRows } = await sql`
    update workloads set given_up = true where user_id = ${userId} and not given_up and ended_at is not null`.execute(
    tx,
  );
  if (!numAffectedRows) return;
  await sql`
    delete from workload_logs using workloads
    where workload_id = workloads.id and user_id = ${userId} and given_up`.execute(tx);
  await wakeEngines(tx);
}

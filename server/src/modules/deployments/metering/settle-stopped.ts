import type { Services } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { lockDeployment } from '../queries.ts';
import { settleTime } from './meter-deployment.ts';

/**
 * Settles the time of a stopped or sleeping deployment, once. Not in the transaction that stopped it: that
 * one notifies other processes, and PostgreSQL serialises commits of notifying transactions.
 */
export async function settleStopped(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  podId: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.sleeping || deployment.terminated_at) await settleTime(tx, clock.now(), deployment);
  });
}

/**
 * Settles every stopped deployment that is unsettled, after a failed start or a crash between stopping and
 * settling.
 */
export async function settleAllStopped({
  db,
  clock,
  log,
}: Pick<Services, 'db' | 'clock' | 'log'>): Promise<void> {
  for (const id of await listUnsettled(db))
    await settleStopped({ db, clock }, id).catch((error: unknown) =>
      log.error({ err: error, pod_id: id }, 'failed to settle deployment'),
    );
}

async function listUnsettled(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where('hold_id', 'is not', null)
    .where((row) => row.or([row('sleeping', '=', true), row('terminated_at', 'is not', null)]))
    .execute();
  return rows.map(({ id }) => id);
}

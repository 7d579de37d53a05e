import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { CLUSTER, isPresent } from './queries.ts';

/** Longer than the 15 s for which a process that was stopped still counts as present. */
const WAIT_MS_MAX = 20_000;
const LOOK_MS = 1_000;

type Cluster = { id: string; name: string; now: Date };

/**
 * Registers a cluster as a machine without a host of its own. Replaces another cluster that no process
 * manages any more; work begun there resumes from its last upload. Throws a plain sentence if a process still
 * manages that cluster.
 */
export async function registerCluster(
  db: Database,
  cluster: Cluster,
  waitMsMax: number = WAIT_MS_MAX,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    const other = await inTransaction(db, (tx) => tryRegister(tx, cluster));
    if (other === null) return;
    if (performance.now() - began > waitMsMax)
      throw new Error(
        `The workloads of this installation already run in the cluster ${other}: set BAKEHOUSE_KUBECONFIG to that cluster, or stop the processes that use it`,
      );
    await sleep(LOOK_MS);
  }
}

/** Returns the name of the conflicting cluster, or null. */
async function tryRegister(tx: Transaction, { id, name, now }: Cluster): Promise<string | null> {
  await sql`lock table machines in share row exclusive mode`.execute(tx);
  const other = await tx
    .selectFrom('machines')
    .select(['id', 'name', isPresent.as('isPresent')])
    .where('driver', '=', CLUSTER)
    .where('id', '<>', id)
    .executeTakeFirst();
  if (other?.isPresent) return other.name;
  const begun = other ? await removeCluster(tx, other.id) : [];
  const columns = { name, host: '', driver: CLUSTER };
  await tx
    .insertInto('machines')
    .values({ id, ...columns, holds_blobs: false, started_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute();
  await sql`
    update workloads set machine_id = ${id}, interrupted = true where id = any(${begun}::uuid[])`.execute(tx);
  return null;
}

/** Returns the work that had begun there and has not ended. */
async function removeCluster(tx: Transaction, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string; begun: boolean }>`
    update workloads set machine_id = null where machine_id = ${id}
    returning id, ended_at is null and (state <> 'queued' or devices is not null) as begun`.execute(tx);
  await tx.deleteFrom('machines').where('id', '=', id).execute();
  return rows.filter(({ begun }) => begun).map((row) => row.id);
}

import type { Deployment } from '@bakehouse/contract/deployments/text';
import { type Insertable, sql } from 'kysely';
import type { WorkloadState } from '../../engine/model/workload.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DeploymentsTable } from '../../platform/db/schema.generated.ts';
import { findLiveDeployment } from './find-deployments.ts';
import type { KindName } from './kinds/kinds.ts';
import { lockModelServers } from './servers/server-queries.ts';

type Db = Database | Transaction;

/*
 * SQL of deployments. SQL of model servers is in servers/server-queries.ts. To avoid deadlocks, every
 * transaction locks in the order model server, deployment, workload, ledger.
 */

export type DeploymentRow = Awaited<ReturnType<typeof lockDeployment>>;

// Deployments

/** Locks the deployment's model server (with its replicas), and then the deployment. */
export async function lockDeployment(tx: Transaction, podId: string) {
  const { model_server_id } = await tx
    .selectFrom('deployments')
    .select('model_server_id')
    .where('id', '=', podId)
    .executeTakeFirstOrThrow();
  await lockModelServers(tx, model_server_id);
  return tx
    .selectFrom('deployments')
    .selectAll()
    .where('id', '=', podId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Returns deployments that are awake. Their time is metered, and they may fall asleep. */
export async function listAwakeDeployments(db: Db) {
  return db
    .selectFrom('deployments')
    .select(['id', 'user_id'])
    .where('terminated_at', 'is', null)
    .where('sleeping', '=', false)
    .orderBy('metered_at', (order) => order.asc().nullsFirst())
    .execute();
}

/**
 * Locks the name for the user until the transaction ends. Returns the id of the user's live deployment with
 * this name.
 */
export async function lockLiveDeployment(
  tx: Transaction,
  { userId, modelName }: { userId: string; modelName: string },
): Promise<string | undefined> {
  const name = `deployment ${userId} ${modelName}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
  return (await findLiveDeployment(tx, { userId, modelName }))?.id;
}

export async function listLiveModelNames(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('model_name')
    .where('user_id', '=', userId)
    .where('terminated_at', 'is', null)
    .execute();
  return rows.map((row) => row.model_name);
}

/**
 * Returns the name of the user's live deployment of the asset, or of an adapter on it. Also returns how many
 * deployments other users have.
 */
export async function findDeploymentsOfAsset(
  db: Db,
  { assetId, userId }: { assetId: string; userId: string | null },
): Promise<{ ownName: string | null; others: number }> {
  const { rows } = await sql<{ own: string | null; others: bigint }>`
    select min(model_name) filter (where user_id = ${userId}::text) as own,
      count(*) filter (where user_id is distinct from ${userId}::text) as others
    from deployments
    where terminated_at is null and (asset_id = ${assetId} or base_asset_id = ${assetId})`.execute(db);
  return { ownName: rows[0]?.own ?? null, others: Number(rows[0]?.others ?? 0n) };
}

/** Returns the ids of live deployments of an asset, of any user. */
export async function selectLivePodIdsOfAsset(db: Db, assetId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where((eb) => eb.or([eb('asset_id', '=', assetId), eb('base_asset_id', '=', assetId)]))
    .where('terminated_at', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the totals of a user's deployments of some kinds. Amounts are micro-BGL. */
export async function selectSums(db: Db, { userId, kinds }: { userId: string; kinds: readonly KindName[] }) {
  return db
    .selectFrom('deployments')
    .where('user_id', '=', userId)
    .where('kind', 'in', kinds)
    .select((s) => [
      s.fn.countAll<bigint>().as('total'),
      sql<bigint>`count(*) filter (where failed)`.as('failed'),
      sql<bigint>`coalesce(sum(requests), 0)::bigint`.as('requests'),
      sql<bigint>`coalesce(sum(prompt_tokens), 0)::bigint`.as('prompt_tokens'),
      sql<bigint>`coalesce(sum(completion_tokens), 0)::bigint`.as('completion_tokens'),
      sql<bigint>`coalesce(sum(tokens_micro + settled_micro), 0)::bigint`.as('cost_micro'),
    ])
    .executeTakeFirstOrThrow();
}

export async function insertDeployment(tx: Transaction, row: Insertable<DeploymentsTable>): Promise<void> {
  await tx.insertInto('deployments').values(row).execute();
}

// Events of a deployment

/** Records that credit for a period of serving was held. */
export async function setDeploymentHold(
  tx: Transaction,
  podId: string,
  { holdId, heldMs, unitPriceMicro }: { holdId: string; heldMs: bigint; unitPriceMicro: bigint },
): Promise<void> {
  await tx
    .updateTable('deployments')
    .set((row) => ({
      hold_id: holdId,
      held_ms: heldMs,
      unit_price_micro: unitPriceMicro,
      holds_made: row('holds_made', '+', 1),
    }))
    .where('id', '=', podId)
    .execute();
}

/** Records that the open hold was settled. The meter stops until a replica is ready again. */
export async function recordSettlement(tx: Transaction, podId: string, amountMicro: bigint): Promise<void> {
  await tx
    .updateTable('deployments')
    .set((row) => ({
      hold_id: null,
      unsettled_ms: 0n,
      metered_at: null,
      settled_micro: row('settled_micro', '+', amountMicro),
    }))
    .where('id', '=', podId)
    .execute();
}

/**
 * Records that the time up to `meteredAt` was counted, and how many replicas serve from then on. If
 * `meteredAt` is null, the meter stops.
 */
export async function recordMeteredTime(
  tx: Transaction,
  podId: string,
  time: { unsettledMs: bigint; meteredAt: Date | null; replicas: number },
): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ unsettled_ms: time.unsettledMs, metered_at: time.meteredAt, metered_replicas: time.replicas })
    .where('id', '=', podId)
    .execute();
}

/** Records that the workload now serves these deployments. Starts the meter of those that are awake. */
export async function recordCarrier(
  tx: Transaction,
  podIds: string[],
  carrier: { workloadId: string; now: Date },
): Promise<void> {
  if (podIds.length === 0) return;
  await sql`
    update deployments set
      carrier_id = ${carrier.workloadId},
      ready_at = coalesce(ready_at, ${carrier.now}),
      metered_replicas = case when metered_at is null then 1 else metered_replicas end,
      metered_at = case when sleeping then null else coalesce(metered_at, ${carrier.now}) end
    where id = any (${podIds})`.execute(tx);
}

/**
 * Stops the meter. Count the time first, and settle it separately afterwards. Time for which there is no hold
 * is never charged.
 */
const meterStopped = {
  ...{ metered_at: null, metered_replicas: 0 },
  unsettled_ms: sql<bigint>`case when hold_id is null then 0 else unsettled_ms end`,
};

export async function recordAsleep(tx: Transaction, podId: string, reason: string): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ ...meterStopped, sleeping: true, reason, replicas: sql`greatest(min_replicas, 1)`, busy_at: null })
    .where('id', '=', podId)
    .execute();
}

export async function recordAwake(tx: Transaction, podId: string, now: Date): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ sleeping: false, reason: '', last_request_at: now })
    .where('id', '=', podId)
    .execute();
}

/**
 * `carrierId` is the workload whose log contains the reason, if that is not the workload that served last.
 */
export async function setDeploymentEnded(
  tx: Transaction,
  podId: string,
  end: {
    now: Date;
    failed: boolean;
    reason: string;
    stopReason?: Deployment['stop_reason'];
    carrierId?: string;
  },
): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({
      ...meterStopped,
      terminated_at: end.now,
      failed: end.failed,
      reason: end.reason,
      stop_reason: end.stopReason ?? null,
      ...(end.carrierId && { carrier_id: end.carrierId }),
    })
    .where('id', '=', podId)
    .execute();
}

/** Records that a request for the model has started or is still running. */
export async function recordRequest(db: Db, podId: string, now: Date): Promise<void> {
  await db.updateTable('deployments').set({ last_request_at: now }).where('id', '=', podId).execute();
}

export async function findRow(db: Db, podId: string) {
  return db.selectFrom('deployments').selectAll().where('id', '=', podId).executeTakeFirstOrThrow();
}

/** Sets the number of requested replicas. The last one starts to count as idle now. */
export async function setReplicas(
  tx: Transaction,
  podId: string,
  { replicas, now }: { replicas: number; now: Date },
): Promise<void> {
  await tx.updateTable('deployments').set({ replicas, busy_at: now }).where('id', '=', podId).execute();
}

/** Records that the last replica was dropped because there was no slot for it or it failed to start. */
export async function recordDroppedReplica(
  tx: Transaction,
  podId: string,
  { replicas, now }: { replicas: number; now: Date },
): Promise<void> {
  await tx.updateTable('deployments').set({ replicas, no_room_at: now }).where('id', '=', podId).execute();
}

/**
 * Returns when each replica became ready, earliest first. Only for replicas whose workload is in one of these
 * states.
 */
export async function listReadyTimes(
  tx: Transaction,
  { id, carrier_id }: { id: string; carrier_id: string | null },
  states: WorkloadState[],
): Promise<(Date | null)[]> {
  // Collect the ids first, because an `or` over both sources would scan all workloads.
  const { rows } = await sql<{ ready_at: Date | null }>`
    select ready_at from workloads
    where state = any(${states}::text[]) and id = any(array(
      select ${carrier_id}::uuid
      union
      select workload_id from model_servers where deployment_id = ${id}
    ))
    order by ready_at`.execute(tx);
  return rows.map(({ ready_at }) => ready_at);
}

export async function selectLivePodIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where('user_id', '=', userId)
    .where('terminated_at', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

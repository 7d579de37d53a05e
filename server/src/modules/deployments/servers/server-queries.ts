import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';

type Db = Database | Transaction;

/* SQL of model servers. */

export type ModelServerRow = Awaited<ReturnType<typeof lockModelServers>>[number];

/**
 * Locks a shared server's row, or all replicas of a deployment's server, in order. Only one transaction can
 * then plan for the server.
 */
export async function lockModelServers(tx: Transaction, id: string) {
  return tx
    .selectFrom('model_servers')
    .selectAll()
    .where((where) =>
      where.or([
        where('id', '=', id),
        where(
          'deployment_id',
          '=',
          where.selectFrom('model_servers').select('deployment_id').where('id', '=', id),
        ),
      ]),
    )
    .orderBy('replica')
    .forUpdate()
    .execute();
}

export async function findModelServer(db: Db, id: string) {
  return db.selectFrom('model_servers').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

export async function findModelServerOfWorkload(db: Db, workloadId: string) {
  return db
    .selectFrom('model_servers')
    .select('id')
    .where((where) =>
      where.or([where('workload_id', '=', workloadId), where('next_workload_id', '=', workloadId)]),
    )
    .executeTakeFirst();
}

/**
 * Returns adapters of awake deployments that the server's current workload has not loaded yet, but can load
 * while it runs.
 */
export async function selectWaitingAdapters(tx: Transaction, workloadId: string) {
  const { rows } = await sql<{ revision_id: string; adapter: unknown; requested_at: Date }>`
    select distinct on (revision_id) revision_id, adapter,
      greatest(deployments.created_at, last_request_at) as requested_at
    from model_servers server
    join workloads on workloads.id = server.workload_id
    join deployments on deployments.model_server_id = server.id
    where server.workload_id = ${workloadId} and server.engine = 'vllm'
      and terminated_at is null and not sleeping and adapter is not null
      and revision_id::text <> all (adapter_names) and (adapter ->> 'rank')::int <= (spec ->> 'lora_rank')::int
    order by revision_id, requested_at desc`.execute(tx);
  return rows;
}

export type NewModelServer = {
  kind: ServerKindName;
  engine: string;
  filesSha256: string;
  baseFiles: string;
  accelerator: string | null;
  acceleratorCount: number;
  /** 0 for pictures and videos. */
  contextTokens: number;
  /** The deployment to which the server belongs; null for a shared server. */
  deploymentId: string | null;
  replica: number;
};

/** Inserts the row, or locks the existing one. Returns its id. */
export async function upsertModelServer(tx: Transaction, server: NewModelServer): Promise<string> {
  const { id } = await tx
    .insertInto('model_servers')
    .values({
      kind: server.kind,
      engine: server.engine,
      files_sha256: server.filesSha256,
      base_files: server.baseFiles,
      accelerator: server.accelerator,
      accelerator_count: server.acceleratorCount,
      context_tokens: server.contextTokens,
      deployment_id: server.deploymentId,
      replica: server.replica,
    })
    .onConflict((conflict) =>
      conflict
        .columns([
          'kind',
          'engine',
          'files_sha256',
          'accelerator',
          'accelerator_count',
          'context_tokens',
          'deployment_id',
          'replica',
        ])
        // Set a column to the same value, so that the existing row is locked and returned.
        .doUpdateSet((row) => ({ engine: row.ref('excluded.engine') })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function setWorkloads(
  tx: Transaction,
  id: string,
  values: { workload_id: string | null; next_workload_id: string | null },
): Promise<void> {
  await tx.updateTable('model_servers').set(values).where('id', '=', id).execute();
}

/** Records the number of consecutive failed starts. */
export async function setFailedStarts(tx: Transaction, id: string, count: number): Promise<void> {
  await tx.updateTable('model_servers').set({ failed_starts: count }).where('id', '=', id).execute();
}

/** Deletes the replicas of an ended deployment. Keeps the first, which records the deployment's placement. */
export async function deleteReplicasOfEnded(tx: Transaction, podId: string): Promise<void> {
  await tx
    .deleteFrom('model_servers')
    .where('deployment_id', '=', (where) =>
      where
        .selectFrom('deployments')
        .select('id')
        .where('id', '=', podId)
        .where('terminated_at', 'is not', null),
    )
    .where('replica', '>', 1)
    .where('workload_id', 'is', null)
    .where('next_workload_id', 'is', null)
    .execute();
}

/** Gives the starter model's name to this model server, and takes it away from any other server. */
export async function nameStarterServer(
  tx: Transaction,
  id: string,
  starter: { assetId: string; revisionId: string; modelName: string },
): Promise<void> {
  await tx
    .updateTable('model_servers')
    .set({
      starter_asset_id: null,
      starter_revision_id: null,
      starter_name: null,
      starter_requested_at: null,
    })
    .where('starter_name', '=', starter.modelName)
    .where('id', '<>', id)
    .execute();
  await tx
    .updateTable('model_servers')
    .set({
      starter_asset_id: starter.assetId,
      starter_revision_id: starter.revisionId,
      starter_name: starter.modelName,
    })
    .where('id', '=', id)
    .execute();
}

/** If `at` is null, the starter model is no longer requested. */
export async function setStarterRequested(db: Db, id: string, at: Date | null): Promise<void> {
  await db.updateTable('model_servers').set({ starter_requested_at: at }).where('id', '=', id).execute();
}

/** Records that the starter model is in use. Does not wake it if it sleeps. */
export async function recordStarterRequest(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('model_servers')
    .set({ starter_requested_at: now })
    .where('id', '=', id)
    .where('starter_requested_at', 'is not', null)
    .execute();
}

/** True if the asset is a starter model that has running or recent requests. */
export async function isStarterInUse(db: Db, assetId: string): Promise<boolean> {
  const row = await db
    .selectFrom('model_servers')
    .select('id')
    .where('starter_name', 'is not', null)
    .where('starter_asset_id', '=', assetId)
    .where('starter_requested_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns model servers that have a workload, or should have one. */
export async function listModelServersInUse(db: Db): Promise<{ id: string }[]> {
  // Each part uses an index. A single condition with `or` would scan every server that ever existed.
  const { rows } = await sql<{ id: string }>`
    select id from model_servers where workload_id is not null
    union select id from model_servers where next_workload_id is not null
    union select id from model_servers where starter_name is not null and starter_requested_at is not null
    union select model_server_id from deployments where terminated_at is null and not sleeping`.execute(db);
  return rows;
}

/** Returns model servers whose starter model has had no request since `before`. */
export async function listIdleStarterServers(db: Db, before: Date) {
  return db
    .selectFrom('model_servers')
    .select('id')
    .where('starter_name', 'is not', null)
    .where('starter_requested_at', '<', before)
    .execute();
}

/** Returns the deployments of a model server or of its replicas, asleep or awake, oldest first. */
export async function listDeploymentsOfServer(db: Db, serverId: string) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where((where) =>
      where.or([
        where('model_server_id', '=', serverId),
        where(
          'id',
          '=',
          where.selectFrom('model_servers').select('deployment_id').where('id', '=', serverId),
        ),
      ]),
    )
    .where('terminated_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/**
 * Returns how many slots awake deployments use, on the CPU or on GPUs of a kind, for the user and for all
 * users. Does not count starter models, or the server `serverId` and its replicas. Only one transaction can
 * do this at a time, until it ends.
 */
export async function countAwakeSlots(
  tx: Transaction,
  asked: { userId: string; serverId: string; starterIds: string[]; accelerator: string | null },
): Promise<{ own: number; all: number }> {
  await sql`select pg_advisory_xact_lock(hashtextextended('servers awake', 0))`.execute(tx);
  const { rows } = await sql<{ own: bigint; all: bigint }>`
    select coalesce(sum(slots) filter (where own), 0)::bigint as own, coalesce(sum(slots), 0)::bigint as all
    from (
      select greatest(server.accelerator_count, 1) as slots, bool_or(deployments.user_id = ${asked.userId}) as own
      from deployments
      join model_servers server on server.id = deployments.model_server_id
        or server.deployment_id = deployments.id and server.replica <= deployments.replicas
      where deployments.terminated_at is null and not deployments.sleeping
        and server.accelerator is not distinct from ${asked.accelerator}
        and coalesce(server.deployment_id, server.id) <> (
          select coalesce(deployment_id, id) from model_servers where id = ${asked.serverId})
        and (server.deployment_id is not null or deployments.base_asset_id <> all (${asked.starterIds}::uuid[]))
      group by server.id
    ) awake`.execute(tx);
  return { own: Number(rows[0]?.own ?? 0n), all: Number(rows[0]?.all ?? 0n) };
}

/**
 * Deletes up to `limit` old workloads of model servers, with their logs. Their files must be deleted, and no
 * server or deployment may refer to them. Returns how many were deleted.
 */
export async function deleteServerWorkloadsBefore(db: Db, before: Date, limit = 500): Promise<number> {
  const { rows } = await sql`
    delete from workloads where id in (
      select id from workloads ended
      where behaviour = 'deployment' and files_removed_at is not null and ended_at < ${before}
        and not exists (select from model_servers where workload_id = ended.id)
        and not exists (select from model_servers where next_workload_id = ended.id)
        and not exists (select from deployments where carrier_id = ended.id)
      limit ${limit}
    ) returning id`.execute(db);
  return rows.length;
}

/** Returns what workloads of model servers serve, by id. Leaves out workloads that were replaced. */
export async function selectServed(db: Db, workloadIds: string[]) {
  const { rows } = await sql<{
    workload_id: string;
    kind: string;
    starter_name: string | null;
    deployments: number;
    pod_id: string | null;
    owners: number;
    owner_id: string | null;
  }>`
    select carrier.id as workload_id, server.kind, server.starter_name, live.*
    from model_servers server
    join unnest(${workloadIds}::uuid[]) as carrier (id)
      on server.workload_id = carrier.id or server.next_workload_id = carrier.id
    cross join lateral (
      select count(*)::int as deployments, min(id::text) as pod_id, count(distinct user_id)::int as owners,
        min(user_id) as owner_id
      from deployments
      where (model_server_id = server.id or id = server.deployment_id) and terminated_at is null and not sleeping
    ) as live`.execute(db);
  return rows;
}

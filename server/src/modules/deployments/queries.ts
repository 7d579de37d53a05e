import { type Insertable, sql } from 'kysely';
import type { Workload } from '../../engine/workload.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DeploymentsTable } from '../../platform/db/schema.generated.ts';

type Db = Database | Transaction;

/*
 * The SQL of this module. Locks are taken in one order everywhere: text server, deployment, workload,
 * ledger.
 */

export type DeploymentRow = Awaited<ReturnType<typeof lockDeployment>>;
export type TextServerRow = Awaited<ReturnType<typeof lockTextServer>>;

// Text servers

/** The server row, locked: whoever plans for a text server does it alone. */
export async function lockTextServer(tx: Transaction, id: string) {
  return tx.selectFrom('text_servers').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow();
}

export async function findTextServer(db: Db, id: string) {
  return db.selectFrom('text_servers').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

export async function findTextServerOfWorkload(db: Db, workloadId: string) {
  return db
    .selectFrom('text_servers')
    .select('id')
    .where((where) =>
      where.or([where('workload_id', '=', workloadId), where('next_workload_id', '=', workloadId)]),
    )
    .executeTakeFirst();
}

export type NewTextServer = {
  engine: string;
  filesSha256: string;
  baseFiles: string;
  modelFile: string;
  accelerator: string | null;
  acceleratorCount: number;
};

/** Makes the row, or locks the one that is there. Returns its id. */
export async function upsertTextServer(tx: Transaction, server: NewTextServer): Promise<string> {
  const { id } = await tx
    .insertInto('text_servers')
    .values({
      engine: server.engine,
      files_sha256: server.filesSha256,
      base_files: server.baseFiles,
      model_file: server.modelFile,
      accelerator: server.accelerator,
      accelerator_count: server.acceleratorCount,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['engine', 'files_sha256', 'accelerator', 'accelerator_count'])
        // Changes nothing; makes the row that is there come back, locked.
        .doUpdateSet((row) => ({ engine: row.ref('excluded.engine') })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function setWorkloads(
  tx: Transaction,
  id: string,
  values: { workload_id: string | null; next_workload_id: string | null; cautious: boolean },
): Promise<void> {
  await tx.updateTable('text_servers').set(values).where('id', '=', id).execute();
}

/** Gives the starter model's name to one text server; another that had it stops answering to it. */
export async function nameStarterServer(
  tx: Transaction,
  id: string,
  starter: { assetId: string; modelName: string },
): Promise<void> {
  await tx
    .updateTable('text_servers')
    .set({ starter_asset_id: null, starter_name: null, starter_requested_at: null })
    .where('starter_name', '=', starter.modelName)
    .where('id', '<>', id)
    .execute();
  await tx
    .updateTable('text_servers')
    .set({ starter_asset_id: starter.assetId, starter_name: starter.modelName })
    .where('id', '=', id)
    .execute();
}

/** Null: nobody asks for the starter model any more. */
export async function setStarterRequested(db: Db, id: string, at: Date | null): Promise<void> {
  await db.updateTable('text_servers').set({ starter_requested_at: at }).where('id', '=', id).execute();
}

/** The starter model is asked something, or still answers. One that nobody has woken stays as it is. */
export async function noteStarterRequest(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('text_servers')
    .set({ starter_requested_at: now })
    .where('id', '=', id)
    .where('starter_requested_at', 'is not', null)
    .execute();
}

/** Text servers that have, or should have, a workload. */
export async function listTextServersInUse(db: Db) {
  return db
    .selectFrom('text_servers')
    .select('id')
    .where((where) =>
      where.or([
        where('workload_id', 'is not', null),
        where('next_workload_id', 'is not', null),
        where('starter_requested_at', 'is not', null),
        where.exists(
          where
            .selectFrom('deployments')
            .select('id')
            .whereRef('text_server_id', '=', 'text_servers.id')
            .where('terminated_at', 'is', null)
            .where('sleeping', '=', false),
        ),
      ]),
    )
    .execute();
}

/** Text servers whose starter model has not been asked since `before`. */
export async function listIdleStarterServers(db: Db, before: Date) {
  return db.selectFrom('text_servers').select('id').where('starter_requested_at', '<', before).execute();
}

// Deployments

/** Locks the deployment's text server and then the deployment. */
export async function lockDeployment(tx: Transaction, podId: string) {
  await tx
    .selectFrom('text_servers')
    .innerJoin('deployments', 'deployments.text_server_id', 'text_servers.id')
    .select('text_servers.id')
    .where('deployments.id', '=', podId)
    .forUpdate('text_servers')
    .executeTakeFirst();
  return tx
    .selectFrom('deployments')
    .selectAll()
    .where('id', '=', podId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** The deployments that a text server has to carry, asleep or awake, oldest first. */
export async function listLiveDeployments(db: Db, textServerId: string) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('text_server_id', '=', textServerId)
    .where('terminated_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function findDeployment(db: Db, owner: { userId: string; podId: string }) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('id', '=', owner.podId)
    .where('user_id', '=', owner.userId)
    .executeTakeFirst();
}

/** Where a deployment runs, and what is seen of the workload that carries it, or will. */
export type Carrier = {
  accelerator: string | null;
  accelerator_count: number;
  workload: Pick<Workload, 'state' | 'reason' | 'phase' | 'done' | 'total'> | null;
};

/** The carriers of some deployments, by their ids: one query however many there are. */
export async function findCarriers(db: Db, podIds: string[]): Promise<Map<string, Carrier>> {
  const { rows } = await sql<Carrier & { id: string }>`
    select deployments.id, server.accelerator, server.accelerator_count, to_jsonb(carrier) as workload
    from deployments
    join text_servers server on server.id = deployments.text_server_id
    left join lateral (
      select state, reason, phase, done, total from workloads
      where workloads.id in (server.workload_id, server.next_workload_id)
        and (deployments.adapter_file is null or exists (
          select from jsonb_array_elements(spec -> 'adapters') adapter
          where adapter ->> 'name' = deployments.revision_id::text))
      order by workloads.id = server.workload_id desc
      limit 1
    ) carrier on true
    where deployments.id = any (${podIds})`.execute(db);
  return new Map(rows.map(({ id, ...carrier }) => [id, carrier]));
}

type DeploymentFilter = {
  userId: string;
  includeTerminated: boolean;
  assetId?: string | undefined;
  cursor?: string | undefined;
  /** All of them unless given. */
  limit?: number;
};

/** Newest first, those that come after the deployment `cursor`. */
export async function listDeployments(db: Db, filter: DeploymentFilter) {
  const { userId, includeTerminated, assetId, cursor, limit } = filter;
  let query = db.selectFrom('deployments').selectAll().where('user_id', '=', userId);
  if (!includeTerminated) query = query.where('terminated_at', 'is', null);
  if (assetId !== undefined) query = query.where('asset_id', '=', assetId);
  if (cursor !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, id) < (
        select created_at, id from deployments where id = ${cursor} and user_id = ${userId})`,
    );
  }
  if (limit !== undefined) query = query.limit(limit);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
}

/**
 * How many bases, apart from starter models and that of `serverId`, awake deployments keep on the
 * CPU: the user's own and all. Whoever asks this does it alone until the transaction ends.
 */
export async function countBasesAwake(
  tx: Transaction,
  { userId, serverId, starterIds }: { userId: string; serverId: string; starterIds: string[] },
): Promise<{ own: number; all: number }> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bases awake', 0))`.execute(tx);
  const { own, all } = await tx
    .selectFrom('deployments')
    .innerJoin('text_servers', 'text_servers.id', 'deployments.text_server_id')
    .select([
      sql<bigint>`count(distinct text_servers.id) filter (where deployments.user_id = ${userId})`.as('own'),
      sql<bigint>`count(distinct text_servers.id)`.as('all'),
    ])
    .where('deployments.terminated_at', 'is', null)
    .where('deployments.sleeping', '=', false)
    .where('text_servers.accelerator', 'is', null)
    .where(sql<boolean>`deployments.base_asset_id <> all (${starterIds}::uuid[])`)
    .where('text_servers.id', '<>', serverId)
    .executeTakeFirstOrThrow();
  return { own: Number(own), all: Number(all) };
}

/** Awake deployments, whose time runs and whose idle guard may act. */
export async function listAwakeDeployments(db: Db) {
  return db
    .selectFrom('deployments')
    .select('id')
    .where('terminated_at', 'is', null)
    .where('sleeping', '=', false)
    .orderBy('metered_at', (order) => order.asc().nullsFirst())
    .execute();
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

/** A live deployment that serves the asset, or an adapter on it. */
export async function findDeploymentOfAsset(db: Db, assetId: string) {
  return db
    .selectFrom('deployments')
    .select('model_name')
    .where('terminated_at', 'is', null)
    .where((where) => where.or([where('asset_id', '=', assetId), where('base_asset_id', '=', assetId)]))
    .limit(1)
    .executeTakeFirst();
}

/** What is spent and used by all deployments of a user. Amounts are micro-BGL. */
export async function sumDeployments(db: Db, userId: string) {
  return db
    .selectFrom('deployments')
    .where('user_id', '=', userId)
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

// What happens to a deployment

/** A period has been held. */
export async function noteHold(tx: Transaction, podId: string, holdId: string): Promise<void> {
  await tx
    .updateTable('deployments')
    .set((row) => ({ hold_id: holdId, holds_made: row('holds_made', '+', 1) }))
    .where('id', '=', podId)
    .execute();
}

/** The open hold has been settled; the meter stands still until something answers again. */
export async function noteSettled(tx: Transaction, podId: string, amountMicro: bigint): Promise<void> {
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

/** Time up to `meteredAt` has been counted; null: nothing answers, and the meter stands still. */
export async function noteTime(
  tx: Transaction,
  podId: string,
  time: { unsettledMs: bigint; meteredAt: Date | null },
): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ unsettled_ms: time.unsettledMs, metered_at: time.meteredAt })
    .where('id', '=', podId)
    .execute();
}

/** The workload answers for these deployments from now on, and time runs for those that are awake. */
export async function noteCarrier(
  tx: Transaction,
  podIds: string[],
  carrier: { workloadId: string; now: Date },
): Promise<void> {
  if (podIds.length === 0) return;
  await sql`
    update deployments set
      carrier_id = ${carrier.workloadId},
      ready_at = coalesce(ready_at, ${carrier.now}),
      metered_at = case when sleeping then null else coalesce(metered_at, ${carrier.now}) end
    where id = any (${podIds})`.execute(tx);
}

export async function noteAsleep(tx: Transaction, podId: string, reason: string): Promise<void> {
  await tx.updateTable('deployments').set({ sleeping: true, reason }).where('id', '=', podId).execute();
}

export async function noteAwake(tx: Transaction, podId: string, now: Date): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({ sleeping: false, reason: '', last_request_at: now })
    .where('id', '=', podId)
    .execute();
}

/** `carrierId`: the workload whose log tells why, where another than the last that answered. */
export async function noteEnd(
  tx: Transaction,
  podId: string,
  end: { now: Date; failed: boolean; reason: string; carrierId?: string },
): Promise<void> {
  await tx
    .updateTable('deployments')
    .set({
      terminated_at: end.now,
      failed: end.failed,
      reason: end.reason,
      ...(end.carrierId && { carrier_id: end.carrierId }),
    })
    .where('id', '=', podId)
    .execute();
}

/** The model is asked something, or still answers. */
export async function noteRequest(db: Db, podId: string, now: Date): Promise<void> {
  await db.updateTable('deployments').set({ last_request_at: now }).where('id', '=', podId).execute();
}

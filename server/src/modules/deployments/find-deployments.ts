import type { DeploymentFilter } from '@bakehouse/contract/deployments/text';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Workload } from '../../engine/model/workload.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { type ListOrder, listOrders } from '../../platform/db/list-orders.ts';
import type { KindName } from './kinds/kinds.ts';

type Db = Database | Transaction;

/** Whose deployment, and of which kind where that matters. */
export type OwnDeployment = { userId: string; podId: string; kinds?: readonly KindName[] | undefined };

export async function findDeployment(db: Db, { userId, podId, kinds }: OwnDeployment) {
  let query = db.selectFrom('deployments').selectAll().where('id', '=', podId).where('user_id', '=', userId);
  if (kinds !== undefined) query = query.where('kind', 'in', kinds);
  return query.executeTakeFirst();
}

/** The user's deployment that answers by this name until it ends. */
export async function findLiveDeployment(
  db: Db,
  { userId, modelName }: { userId: string; modelName: string },
) {
  return db
    .selectFrom('deployments')
    .innerJoin('model_servers as server', 'server.id', 'deployments.model_server_id')
    .select(['deployments.id', 'deployments.kind', 'deployments.title', 'deployments.asset_id'])
    .select(sql<boolean>`server.deployment_id is not null`.as('has_own_server'))
    .where('deployments.user_id', '=', userId)
    .where('deployments.model_name', '=', modelName)
    .where('deployments.terminated_at', 'is', null)
    .executeTakeFirst();
}

/** The name of the user's newest deployment of a model; undefined where there is none. */
export async function findLiveNameOf(
  db: Db,
  { userId, assetId }: { userId: string; assetId: string },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('deployments')
    .select('model_name')
    .where('user_id', '=', userId)
    .where('asset_id', '=', assetId)
    .where('terminated_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.model_name;
}

/** Where a deployment runs, and what is seen of the workload that carries it, or will. */
export type Carrier = {
  accelerator: string | null;
  accelerator_count: number;
  context_tokens: number;
  workload: Pick<Workload, 'state' | 'reason' | 'phase' | 'done' | 'total'> | null;
};

/** Of `deployments` with its `server`: the workload that carries it, or will. */
const selectCarrier = sql`
  select state, reason, phase, done, total from workloads
  where workloads.id in (server.workload_id, server.next_workload_id)
    and (deployments.adapter is null or deployments.revision_id::text = any (workloads.adapter_names))
  order by workloads.id = server.workload_id desc
  limit 1`;

/** As `showDeployment` says of it: running, degraded or asleep. */
const isUsable = sql<SqlBool>`terminated_at is null and (sleeping or exists (
  select from model_servers server cross join lateral (${selectCarrier}) carrier
  where server.id = deployments.model_server_id and carrier.state in ('ready', 'degraded')))`;

/** The carriers of some deployments, by their ids: one query however many there are. */
export async function findCarriers(db: Db, podIds: string[]): Promise<Map<string, Carrier>> {
  const { rows } = await sql<Carrier & { id: string }>`
    select deployments.id, server.accelerator, server.accelerator_count, server.context_tokens,
      to_jsonb(carrier) as workload
    from deployments
    join model_servers server on server.id = deployments.model_server_id
    left join lateral (${selectCarrier}) carrier on true
    where deployments.id = any (${podIds})`.execute(db);
  return new Map(rows.map(({ id, ...carrier }) => [id, carrier]));
}

type Wanted = {
  userId: string;
  /** Of every kind unless given. */
  kinds?: readonly KindName[] | undefined;
  /** Those alone that answer, or wake to. */
  usable?: boolean | undefined;
  includeTerminated: boolean;
  /** Without the ended ones those all the same that have ended since, though their owner did not end them. */
  endedSince?: Date | undefined;
  /** Those alone that have not ended, or have since. */
  recentSince?: Date | undefined;
  /** Of the ended ones too, where it asks for them. */
  status?: DeploymentFilter | undefined;
  search?: string | undefined;
  assetId?: string | undefined;
  sort?: ListOrder | undefined;
  cursor?: string | undefined;
  /** All of them unless given. */
  limit?: number;
};

const hasStatus: Record<DeploymentFilter, RawBuilder<SqlBool>> = {
  running: sql`terminated_at is null and not sleeping`,
  sleeping: sql`terminated_at is null and sleeping`,
  failed: sql`failed`,
  terminated: sql`terminated_at is not null and not failed`,
};

/** Newest first unless sorted by title, those that come after the deployment `cursor`. */
export async function selectDeployments(db: Db, wanted: Wanted) {
  const { userId, kinds, includeTerminated, endedSince, recentSince, status } = wanted;
  const { search = '', assetId, cursor } = wanted;
  const { key, direction, after } = listOrders[wanted.sort ?? 'created'];
  let query = db.selectFrom('deployments').selectAll().where('user_id', '=', userId);
  if (kinds !== undefined) query = query.where('kind', 'in', kinds);
  if (wanted.usable) query = query.where(isUsable);
  if (status !== undefined) query = query.where(hasStatus[status]);
  if (recentSince !== undefined) {
    query = query.where(sql<SqlBool>`(terminated_at is null or terminated_at >= ${recentSince})`);
  } else if (status === undefined && !includeTerminated) {
    query = query.where(sql<SqlBool>`(terminated_at is null
      or (failed or stop_reason is not null) and terminated_at >= ${endedSince ?? null}::timestamptz)`);
  }
  if (search !== '') {
    query = query.where(
      sql<boolean>`strpos(lower(concat_ws(chr(10), title, model_name, base_model_title)), lower(${search})) > 0`,
    );
  }
  if (assetId !== undefined) query = query.where('asset_id', '=', assetId);
  if (cursor !== undefined) {
    query = query.where(
      sql<boolean>`(${key}, id) ${after} (
        select ${key}, id from deployments where id = ${cursor} and user_id = ${userId})`,
    );
  }
  if (wanted.limit !== undefined) query = query.limit(wanted.limit);
  return query.orderBy(sql`${key} ${direction}, id ${direction}`).execute();
}

import type { DeploymentFilter } from '@bakehouse/contract/deployments/text';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Workload } from '../../engine/model/workload.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { type ListOrder, listOrders } from '../../platform/db/list-orders.ts';
import type { KindName } from './kinds/kinds.ts';
import { hasVision } from './servers/has-vision.ts';

type Db = Database | Transaction;

/** The owner of the deployments, optionally only for some kinds. */
export type OwnDeployment = { userId: string; podId: string; kinds?: readonly KindName[] | undefined };

export async function findDeployment(db: Db, { userId, podId, kinds }: OwnDeployment) {
  let query = db.selectFrom('deployments').selectAll().where('id', '=', podId).where('user_id', '=', userId);
  if (kinds !== undefined) query = query.where('kind', 'in', kinds);
  return query.executeTakeFirst();
}

/** Returns the user's live deployment with this name. */
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

/** Returns the name of the user's newest live deployment of a model; undefined if there is none. */
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

/** The placement of a deployment, and the workload that serves it now or will serve it next. */
export type Carrier = {
  accelerator: string | null;
  accelerator_count: number;
  context_tokens: number;
  vision: boolean;
  workload: Pick<Workload, 'state' | 'reason' | 'phase' | 'done' | 'total'> | null;
};

/**
 * SQL for a row of `deployments` and its `server`. Selects the workload that serves the deployment now or
 * will serve it next.
 */
const selectCarrier = sql`
  select state, reason, phase, done, total from workloads
  where workloads.id in (server.workload_id, server.next_workload_id)
    and (deployments.adapter is null or deployments.revision_id::text = any (workloads.adapter_names))
  order by workloads.id = server.workload_id desc
  limit 1`;

/** Matches deployments that `showDeployment` shows as running, degraded or asleep. */
const isUsable = sql<SqlBool>`terminated_at is null and (sleeping or exists (
  select from model_servers server cross join lateral (${selectCarrier}) carrier
  where server.id = deployments.model_server_id and carrier.state in ('ready', 'degraded')))`;

/** Returns the workloads that serve these deployments, by the deployments' ids, in one query. */
export async function findCarriers(db: Db, podIds: string[]): Promise<Map<string, Carrier>> {
  const { rows } = await sql<Carrier & { id: string }>`
    select deployments.id, server.accelerator, server.accelerator_count, server.context_tokens,
      ${hasVision} as vision, to_jsonb(carrier) as workload
    from deployments
    join model_servers server on server.id = deployments.model_server_id
    left join lateral (${selectCarrier}) carrier on true
    where deployments.id = any (${podIds})`.execute(db);
  return new Map(rows.map(({ id, ...carrier }) => [id, carrier]));
}

/** Returns the names of the starter models that read pictures. */
export async function findVisionStarters(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select starter_name as name from model_servers server
    where starter_name is not null and ${hasVision}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

type Wanted = {
  userId: string;
  /** Defaults to every kind. */
  kinds?: readonly KindName[] | undefined;
  /** Only deployments that can serve a request, possibly after they have woken up. */
  usable?: boolean | undefined;
  includeTerminated: boolean;
  /**
   * Applies if `includeTerminated` is false: still includes deployments that have ended since this time,
   * unless their owner ended them.
   */
  endedSince?: Date | undefined;
  /** Only deployments that are live or have ended since this time. */
  recentSince?: Date | undefined;
  /** Only deployments in this state, which may include ended ones. */
  status?: DeploymentFilter | undefined;
  search?: string | undefined;
  assetId?: string | undefined;
  sort?: ListOrder | undefined;
  cursor?: string | undefined;
  /** Defaults to no limit. */
  limit?: number;
};

const hasStatus: Record<DeploymentFilter, RawBuilder<SqlBool>> = {
  running: sql`terminated_at is null and not sleeping`,
  sleeping: sql`terminated_at is null and sleeping`,
  failed: sql`failed`,
  terminated: sql`terminated_at is not null and not failed`,
};

/** Returns deployments after `cursor`: newest first, or by title if `sort` requests it. */
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

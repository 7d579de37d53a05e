import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

type Db = Database | Transaction;

/**
 * The server row, locked: whoever plans for a text server does it alone. Locks are taken in one order
 * everywhere: text server, deployment, workload, ledger.
 */
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
    .where((where) => where.or([where('workload_id', '=', workloadId), where('next_workload_id', '=', workloadId)]))
    .executeTakeFirst();
}

export async function findStarterServer(db: Db, starterName: string) {
  return db.selectFrom('text_servers').selectAll().where('starter_name', '=', starterName).executeTakeFirst();
}

/** The deployments that a text server has to carry, asleep or awake. */
export async function listLiveDeployments(db: Db, textServerId: string) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('text_server_id', '=', textServerId)
    .where('terminated_at', 'is', null)
    .orderBy('created_at')
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

/** Locks the deployment's text server and then the deployment. Undefined when there is none. */
export async function lockDeployment(tx: Transaction, podId: string) {
  await tx
    .selectFrom('text_servers')
    .innerJoin('deployments', 'deployments.text_server_id', 'text_servers.id')
    .select('text_servers.id')
    .where('deployments.id', '=', podId)
    .forUpdate('text_servers')
    .executeTakeFirst();
  return tx.selectFrom('deployments').selectAll().where('id', '=', podId).forUpdate().executeTakeFirstOrThrow();
}

export async function findDeploymentByName(db: Db, owner: { userId: string; modelName: string }) {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('user_id', '=', owner.userId)
    .where('model_name', '=', owner.modelName)
    .where('terminated_at', 'is', null)
    .executeTakeFirst();
}

export async function listDeployments(db: Db, owner: { userId: string; includeTerminated: boolean }) {
  let query = db.selectFrom('deployments').selectAll().where('user_id', '=', owner.userId);
  if (!owner.includeTerminated) query = query.where('terminated_at', 'is', null);
  return query.orderBy('created_at', 'desc').orderBy('id').limit(200).execute();
}

export type DeploymentRow = Awaited<ReturnType<typeof lockDeployment>>;
export type TextServerRow = Awaited<ReturnType<typeof lockTextServer>>;

/** Deployments whose time runs or whose idle guard may act, oldest meter first. */
export async function listAwakeDeployments(db: Db) {
  return db
    .selectFrom('deployments')
    .select('id')
    .where('terminated_at', 'is', null)
    .where('sleeping', '=', false)
    .orderBy('metered_at', (order) => order.asc().nullsFirst())
    .execute();
}

/** Text servers that only answer for the starter model itself and have not been asked since `before`. */
export async function listIdleStarterServers(db: Db, before: Date) {
  return db
    .selectFrom('text_servers')
    .select('id')
    .where('starter_requested_at', '<', before)
    .where('workload_id', 'is not', null)
    .execute();
}

export async function insertChatRequest(
  tx: Transaction,
  request: {
    id: string;
    userId: string;
    podId: string | null;
    modelName: string;
    at: Date;
    ok: boolean;
    promptTokens: number;
    completionTokens: number;
    firstTokenMs: number | null;
    totalMs: number;
    costMicro: bigint;
  },
): Promise<void> {
  await tx
    .insertInto('chat_requests')
    .values({
      id: request.id,
      user_id: request.userId,
      deployment_id: request.podId,
      model_name: request.modelName,
      at: request.at,
      ok: request.ok,
      prompt_tokens: request.promptTokens,
      completion_tokens: request.completionTokens,
      first_token_ms: request.firstTokenMs,
      total_ms: request.totalMs,
      cost_micro: request.costMicro,
    })
    .execute();
}

export async function sumChatRequests(db: Db, userId: string) {
  return db
    .selectFrom('chat_requests')
    .where('user_id', '=', userId)
    .where('deployment_id', 'is not', null)
    .select((s) => [
      s.fn.countAll<bigint>().as('requests'),
      sql<bigint>`coalesce(sum(prompt_tokens), 0)::bigint`.as('prompt_tokens'),
      sql<bigint>`coalesce(sum(completion_tokens), 0)::bigint`.as('completion_tokens'),
      sql<bigint>`coalesce(sum(cost_micro), 0)::bigint`.as('cost_micro'),
    ])
    .executeTakeFirstOrThrow();
}

/** One row per minute in which there were requests. Speed is that of the tokens after the first. */
export async function chatRequestsPerMinute(db: Db, filter: { podId: string; since: Date }) {
  return db
    .selectFrom('chat_requests')
    .where('deployment_id', '=', filter.podId)
    .where('at', '>=', filter.since)
    .select((s) => [
      sql<Date>`date_trunc('minute', at)`.as('minute'),
      s.fn.countAll<bigint>().as('requests'),
      sql<bigint>`count(*) filter (where not ok)`.as('errors'),
      sql<bigint>`sum(prompt_tokens)::bigint`.as('prompt_tokens'),
      sql<bigint>`sum(completion_tokens)::bigint`.as('completion_tokens'),
      sql<number | null>`percentile_cont(0.5) within group (order by first_token_ms)`.as('first_token_ms_p50'),
      sql<number | null>`percentile_cont(0.5) within group (order by total_ms) filter (where ok)`.as('total_ms_p50'),
      sql<number | null>`percentile_cont(0.95) within group (order by total_ms) filter (where ok)`.as('total_ms_p95'),
      sql<number | null>`
        (sum(completion_tokens) filter (where first_token_ms < total_ms))::float8 * 1000
        / nullif(sum(total_ms - first_token_ms) filter (where first_token_ms < total_ms), 0)`.as('tokens_per_second'),
    ])
    .groupBy('minute')
    .orderBy('minute')
    .execute();
}

export async function listLiveModelNames(db: Db, userId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('deployments')
    .select('model_name')
    .where('user_id', '=', userId)
    .where('terminated_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.model_name));
}

export async function findDeploymentOfAsset(db: Db, assetId: string) {
  return db
    .selectFrom('deployments')
    .select('model_name')
    .where('asset_id', '=', assetId)
    .where('terminated_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
}

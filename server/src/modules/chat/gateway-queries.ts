import { sql } from 'kysely';
import type { Services } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { deleteBefore } from '../../platform/db/retention/delete-before.ts';
import { runPrepared } from '../../platform/db/run-prepared.ts';
import type { EngineOf, ServerKindName } from '../deployments/kinds/kinds.ts';

type Db = Database | Transaction;

/* The SQL of the gateway: what requests used, where they go, and which processes pass them on. */

// Requests

export type ChatRequest = {
  id: string;
  userId: string;
  podId: string | null;
  modelName: string;
  at: Date;
  endedAt: Date;
  ok: boolean;
  promptTokens: number;
  completionTokens: number;
  firstTokenMs: number | null;
  totalMs: number;
  costMicro: bigint;
};

/** Keeps requests and adds them to the sums of their deployments. */
export async function insertChatRequests(tx: Db, requests: ChatRequest[]): Promise<void> {
  await tx
    .insertInto('chat_requests')
    .values(
      requests.map((request) => ({
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
      })),
    )
    .execute();
  const ofDeployments = Map.groupBy(requests, ({ podId }) => podId);
  // In one order: others add to some of the same.
  for (const podId of [...ofDeployments.keys()].filter((id) => id !== null).sort()) {
    const own = ofDeployments.get(podId) ?? [];
    const sum = (part: (request: ChatRequest) => bigint) => own.reduce((all, one) => all + part(one), 0n);
    const endedAt = new Date(Math.max(...own.map((one) => one.endedAt.getTime())));
    await tx
      .updateTable('deployments')
      .set((row) => ({
        last_request_at: endedAt,
        requests: row('requests', '+', BigInt(own.length)),
        prompt_tokens: row(
          'prompt_tokens',
          '+',
          sum((one) => BigInt(one.promptTokens)),
        ),
        completion_tokens: row(
          'completion_tokens',
          '+',
          sum((one) => BigInt(one.completionTokens)),
        ),
        tokens_micro: row(
          'tokens_micro',
          '+',
          sum((one) => one.costMicro),
        ),
      }))
      .where('id', '=', podId)
      .execute();
  }
}

export async function deleteChatRequestsBefore(db: Database, time: Date): Promise<void> {
  await deleteBefore(db, 'chat_requests', { column: 'at', time });
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
      sql<number | null>`percentile_cont(0.5) within group (order by first_token_ms)`.as(
        'first_token_ms_p50',
      ),
      sql<number | null>`percentile_cont(0.5) within group (order by total_ms) filter (where ok)`.as(
        'total_ms_p50',
      ),
      sql<number | null>`percentile_cont(0.95) within group (order by total_ms) filter (where ok)`.as(
        'total_ms_p95',
      ),
      sql<number | null>`
        (sum(greatest(completion_tokens - 1, 0)) filter (where first_token_ms < total_ms))::float8 * 1000
        / nullif(sum(total_ms - first_token_ms) filter (where first_token_ms < total_ms), 0)`.as(
        'tokens_per_second',
      ),
    ])
    .groupBy('minute')
    .orderBy('minute')
    .execute();
}

// Where a request goes

/** A workload of a model server as a request sees it. */
export type UpstreamWorkload = {
  id: string;
  state: string;
  reason: string;
  phase: string | null;
  base_url: string | null;
  server_key: string | null;
  adapter_names: string[];
};

export type Upstream<Kind extends ServerKindName = 'text'> = {
  server_id: string;
  engine: EngineOf[Kind];
  accelerator: string | null;
  model_name: string;
  /** Null: the starter model. */
  pod_id: string | null;
  /** Null: the base alone. */
  adapter: string | null;
  /** Of a starter model: nobody has asked for it lately. A server that is up for others may be of an earlier revision. */
  sleeping: boolean;
  last_request_at: Date | null;
  /** What is asked: of a starter model the revision that its server loads, else the deployment's. */
  revision_id: string | null;
  workload: UpstreamWorkload | null;
  next_workload: UpstreamWorkload | null;
  /** The server is this deployment's own. */
  is_own: boolean;
  max_replicas: number;
  /** What else answers for the deployment, or will. */
  replicas: { server_id: string; workload: UpstreamWorkload }[];
};

/**
 * Where a request for a model of the kind goes: the caller's deployment of that name, else the starter model.
 * One query, because every request begins with it.
 */
export async function findUpstream<Kind extends ServerKindName>(
  services: Pick<Services, 'db' | 'pool'>,
  asked: { userId: string; modelName: string; kind: Kind },
): Promise<Upstream<Kind> | undefined> {
  const [upstream] = await runPrepared(
    services,
    'find_upstream',
    sql<Upstream<Kind>>`
    with asked as (
      select 0 as rank, model_server_id, model_name, deployments.id as pod_id, sleeping, last_request_at, max_replicas,
        revision_id, case when adapter is not null then revision_id end as adapter
      from deployments join model_servers own on own.id = model_server_id
      where user_id = ${asked.userId} and model_name = ${asked.modelName} and own.kind = ${asked.kind} and terminated_at is null
      union all
      select 1, id, starter_name, null, starter_requested_at is null, starter_requested_at, 1, null, null
      from model_servers where starter_name = ${asked.modelName} and kind = ${asked.kind}
      order by rank limit 1
    )
    select server.id as server_id, server.engine, server.accelerator, asked.model_name, asked.pod_id, asked.adapter,
      asked.sleeping, asked.last_request_at, coalesce(server.starter_revision_id, asked.revision_id) as revision_id,
      to_jsonb(current) as workload, to_jsonb(next) as next_workload, server.deployment_id is not null as is_own,
      asked.max_replicas,
      case when asked.max_replicas = 1 then '[]' else (
        select coalesce(jsonb_agg(
          jsonb_build_object('server_id', other.id, 'workload', to_jsonb(carrier)) order by other.replica), '[]')
        from model_servers other join serving_workloads carrier on carrier.id = other.workload_id
        where other.deployment_id = asked.pod_id and other.id <> server.id
      ) end as replicas
    from asked
    join model_servers server on server.id = asked.model_server_id
    left join serving_workloads current on current.id = server.workload_id
    left join serving_workloads next on next.id = server.next_workload_id`,
  );
  return upstream;
}

import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { runPrepared } from '../../../platform/db/in-transaction.ts';
import type { EngineOf, ServerKindName } from '../../serving/server-kinds.ts';
import { hasVision } from '../servers/has-vision.ts';

/** The workload of a model server, with only the fields that a request needs. */
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
  /** Maximum tokens of a request with its answer; 0 for pictures and videos. */
  context_tokens: number;
  /** True if it reads pictures in chats. */
  vision: boolean;
  model_name: string;
  /** Null for a starter model. */
  pod_id: string | null;
  /** Null for the base model without an adapter. */
  adapter: string | null;
  /**
   * True if the model must be woken. A starter model also counts as asleep without recent requests: its
   * server may still run for other deployments, with an earlier revision.
   */
  sleeping: boolean;
  last_request_at: Date | null;
  /**
   * The revision that a request needs. For a starter model, this is the revision that its server loads;
   * otherwise the deployment's.
   */
  revision_id: string | null;
  workload: UpstreamWorkload | null;
  next_workload: UpstreamWorkload | null;
  /** True if the server serves only this deployment. */
  is_own: boolean;
  max_replicas: number;
  /** The other replicas of the deployment, whether ready or not. */
  replicas: { server_id: string; workload: UpstreamWorkload }[];
};

/**
 * Returns the servers for a request. If the caller has a deployment with this name, these are its servers,
 * otherwise the starter model's. Uses a single query, because every request starts with it.
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
    select server.id as server_id, server.engine, server.accelerator, server.context_tokens, ${hasVision} as vision,
      asked.model_name, asked.pod_id, asked.adapter,
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

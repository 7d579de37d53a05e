import { rowCache } from '../../../platform/cache/row-cache.ts';
import type { RowChange, RowChanges } from '../../../platform/cache/row-changes.ts';
import { readyServers } from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';

/** Maximum cached entries, one per user and model. */
const KEPT_MAX = 20_000;

/**
 * Returns the servers for a user's request to a model, from the cache if possible. Otherwise calls `find`.
 */
export type RecallUpstream = <Kind extends ServerKindName>(
  userId: string,
  asked: { modelName: string; kind: Kind },
  find: () => Promise<Upstream<Kind>>,
) => Promise<Upstream<Kind>>;

/**
 * Caches the servers of a model while at least one is ready. Without a ready server, a request waits anyway,
 * so caching would save nothing.
 */
export function createUpstreamCache(changes: RowChanges): RecallUpstream {
  const recall = rowCache<Upstream<ServerKindName>>(changes, {
    max: KEPT_MAX,
    concerns,
    isKept: (upstream) => readyServers(upstream).length > 0,
  });
  return <Kind extends ServerKindName>(
    userId: string,
    { modelName, kind }: { modelName: string; kind: Kind },
    find: () => Promise<Upstream<Kind>>,
  ) =>
    // Include the kind, because the same name may exist in another kind.
    recall(JSON.stringify([userId, modelName, kind]), find) as Promise<Upstream<Kind>>;
}

/**
 * Returns true if a change concerns this entry. The id of a changed deployment is its name. The id of a
 * changed model server is the server's own, or its deployment's if the server belongs to one.
 */
function concerns(upstream: Upstream<ServerKindName>, { of, id }: RowChange): boolean {
  const { model_name, server_id, pod_id, workload, next_workload, replicas } = upstream;
  if (of === 'deployment') return id === model_name;
  if (of === 'model_server') return id === server_id || id === pod_id;
  const workloads = [workload, next_workload, ...replicas.map((replica) => replica.workload)];
  return of === 'workload' && workloads.some((carrier) => carrier?.id === id);
}

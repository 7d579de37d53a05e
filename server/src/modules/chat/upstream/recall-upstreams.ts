import { rowCache } from '../../../platform/cache/row-cache.ts';
import type { RowChange, RowChanges } from '../../../platform/cache/row-changes.ts';
import { readyServers } from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';

/** Users' models that are kept in memory. */
const KEPT_MAX = 20_000;

/** Where a user's request for a model goes, from memory or by `find`. */
export type RecallUpstream = <Kind extends ServerKindName>(
  userId: string,
  asked: { modelName: string; kind: Kind },
  find: () => Promise<Upstream<Kind>>,
) => Promise<Upstream<Kind>>;

/** Keeps in memory where requests go, while there is a model server that answers them: the others wait anyway. */
export function recallUpstreams(changes: RowChanges): RecallUpstream {
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
    // What is kept under a kind was found as one of it.
    recall(JSON.stringify([userId, modelName, kind]), find) as Promise<Upstream<Kind>>;
}

/** A deployment is told by its name, a model server of its own by the id of the deployment. */
function concerns(upstream: Upstream<ServerKindName>, { of, id }: RowChange): boolean {
  const { model_name, server_id, pod_id, workload, next_workload, replicas } = upstream;
  if (of === 'deployment') return id === model_name;
  if (of === 'model_server') return id === server_id || id === pod_id;
  const workloads = [workload, next_workload, ...replicas.map((replica) => replica.workload)];
  return of === 'workload' && workloads.some((carrier) => carrier?.id === id);
}

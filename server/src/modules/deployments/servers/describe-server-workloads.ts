import type { Database } from '../../../platform/db/database.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { selectServed } from './server-queries.ts';

/** Purpose of a workload that serves a model. */
export type ServedWorkload = {
  kind: ServerKindName;
  /** Name of the server's own model that it serves to all users; null if it serves none. */
  starterName: string | null;
  /** Number of awake deployments it serves. */
  deployments: number;
  /** The deployment's id, if there is exactly one. */
  podId: string | null;
  /** Owner of the deployments; null if there are several owners or none. */
  ownerId: string | null;
};

/** Returns what these workloads serve, by id; omits workloads that have been replaced and are stopping. */
export async function describeServerWorkloads(
  db: Database,
  workloadIds: string[],
): Promise<Map<string, ServedWorkload>> {
  if (workloadIds.length === 0) return new Map();
  const rows = await selectServed(db, workloadIds);
  return new Map(
    rows.map(({ workload_id, kind, starter_name, deployments, pod_id, owners, owner_id }) => [
      workload_id,
      {
        kind: kind as ServerKindName,
        starterName: starter_name,
        deployments,
        podId: deployments === 1 ? pod_id : null,
        ownerId: owners === 1 ? owner_id : null,
      },
    ]),
  );
}

import type { Database } from '../../../platform/db/database.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { selectServed } from './server-queries.ts';

/** What a workload that serves a model is for. */
export type ServedWorkload = {
  kind: ServerKindName;
  /** The name of the installation's own model that it serves to everybody; null: it serves none. */
  starterName: string | null;
  /** How many deployments that are awake it serves. */
  deployments: number;
  /** That deployment, if it is one. */
  podId: string | null;
  /** Whose deployments they are; null: of several users, or of none. */
  ownerId: string | null;
};

/** What these workloads serve, by their ids; one that has been replaced and only ends is left out. */
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

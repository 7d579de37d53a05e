import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Workload } from '../../../engine/model/workload.ts';
import type { WorkloadKind } from '../../../engine/model/workload-kind.ts';
import { stopWorkload } from '../../../engine/request-workload.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { REQUEST_MS_MAX } from '../../serving/ask/request-deadline.ts';
import type { PlacedModel } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { reconcileModelServerJob } from '../jobs/reconcile-model-server.ts';
import { showDeployment } from '../kinds/deployment-state.ts';
import { acceptAdapter, findAdapters } from './late-adapters.ts';
import {
  findModelServer,
  findModelServerOfWorkload,
  listDeploymentsOfServer,
  selectServed,
  upsertModelServer,
} from './server-queries.ts';
import { MODEL_SERVER_KIND } from './start-server-workload.ts';
import { announceModelServer } from './watch-model-server.ts';

const LEAVES = 'Its place was needed or released';

/** Maximum duration of a request. */
const LEAVES_S_MAX = REQUEST_MS_MAX / 1000;

/** Purpose of a workload that serves a model. */
export type ServedWorkload = {
  kind: ServerKindName;
  /** The name under which the server serves its own model to all users; null if it does not. */
  starterName: string | null;
  /** Number of awake deployments that it serves. */
  deployments: number;
  /** The id of the deployment, if the server serves exactly one. */
  podId: string | null;
  /** Owner of the deployments; null if there are several owners or none. */
  ownerId: string | null;
};

/**
 * Returns what these workloads serve, by their ids. Leaves out workloads that were replaced and are stopping.
 */
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

type Wanted = {
  kind: ServerKindName;
  placed: PlacedModel;
  /**
   * For a server of a single deployment: the deployment, and its number of replicas. Null for a shared
   * server.
   */
  own: { deploymentId: string; replicas: number } | null;
};

/**
 * Creates the model server of this base on this placement if it does not exist, and locks it. Returns its id;
 * with replicas, the id of the first.
 */
export async function ensureModelServer(tx: Transaction, { kind, placed, own }: Wanted): Promise<string> {
  const { model, placement, context } = placed;
  const server = {
    kind,
    engine: model.base.engine,
    filesSha256: model.base.filesSha256,
    baseFiles: toJson(model.base.files),
    accelerator: placement.accelerator,
    acceleratorCount: placement.count,
    contextTokens: context?.tokens ?? 0,
    deploymentId: own?.deploymentId ?? null,
  };
  const id = await upsertModelServer(tx, { ...server, replica: 1 });
  for (let replica = 2; replica <= (own?.replicas ?? 1); replica += 1) {
    await upsertModelServer(tx, { ...server, replica });
  }
  return id;
}

/** Returns the files of the base that a model server loads. */
export async function listBaseFiles(db: Database, serverId: string): Promise<AssetRevision['files']> {
  const files = (await findModelServer(db, serverId)).base_files as InputFile[];
  return files.map(({ path, sha256, size_bytes }) => ({ path, sha256, sizeBytes: size_bytes }));
}

/**
 * Reacts to changes of model servers' workloads. The engine has locked the workload at this point. A model
 * server must be locked before its workloads, so a job does the rest.
 */
export function modelServerKind(jobs: Jobs, clock: Clock): WorkloadKind {
  return {
    name: MODEL_SERVER_KIND,
    // The server's node or slot is being withdrawn. Send no more requests to it, and start a replacement.
    onReports: async (tx, { id }, reports) => {
      for (const report of reports) if (report.type === 'adapter') await acceptAdapter(tx, jobs, id, report);
      const leaving = reports.find((report) => report.type === 'leaving');
      if (!leaving) return;
      const drainSeconds = Math.min(leaving.within_seconds, LEAVES_S_MAX);
      await stopWorkload(tx, { id, reason: LEAVES, drainSeconds, now: clock.now() });
    },
    findAdapters,
    onChange: async (tx, workload, before) => {
      const moved = workload.state !== before.state || passedOver(workload) !== passedOver(before);
      if (!moved && visibleState(workload) === visibleState(before)) return;
      const server = await findModelServerOfWorkload(tx, workload.id);
      if (!server) return;
      await announceModelServer(tx, server.id);
      if (moved) await jobs.enqueue(tx, reconcileModelServerJob, { serverId: server.id });
      for (const { id, user_id, sleeping } of await listDeploymentsOfServer(tx, server.id)) {
        if (!sleeping) await publishChange(tx, user_id, { topic: 'deployment', id });
      }
    },
  };
}

/**
 * True if the workload waits because no slot is free. Another workload of the server may then have to stop.
 */
function passedOver(workload: Workload): boolean {
  return workload.state === 'queued' && workload.reason !== '';
}

/** Returns the part of a workload's state that users see. The rest of it changes far more often. */
function visibleState(workload: Workload): string {
  const awake = { terminatedAt: null, failed: false, sleeping: false, reason: '' };
  return JSON.stringify(showDeployment(awake, workload));
}

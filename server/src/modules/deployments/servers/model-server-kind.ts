import type { Workload } from '../../../engine/model/workload.ts';
import type { WorkloadKind } from '../../../engine/model/workload-kind.ts';
import { stopWorkload } from '../../../engine/stop-workload.ts';
import type { Clock } from '../../../platform/clock.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import { IN_ALL_MS_MAX } from '../../serving/ask/request-deadline.ts';
import { reconcileModelServerJob } from '../jobs/reconcile-model-server.ts';
import { showDeployment } from '../kinds/deployment-state.ts';
import { findModelServerOfWorkload, listDeploymentsOfServer } from './server-queries.ts';
import { MODEL_SERVER_KIND } from './start-server-workload.ts';
import { announceModelServer } from './watch-model-server.ts';

const LEAVES = 'Its place was needed, or given up';
/** Maximum duration of a request. */
const LEAVES_S_MAX = IN_ALL_MS_MAX / 1000;

/**
 * Reacts to workload changes of model servers. The engine holds the workload's lock here, but a model server
 * must be locked before its workloads, so the work is deferred to a job.
 */
export function modelServerKind(jobs: Jobs, clock: Clock): WorkloadKind {
  return {
    name: MODEL_SERVER_KIND,
    // Its node or slot is being withdrawn: send it no more requests and start a replacement.
    onReports: async (tx, { id }, reports) => {
      const leaving = reports.find((report) => report.type === 'leaving');
      if (!leaving) return;
      const drainSeconds = Math.min(leaving.within_seconds, LEAVES_S_MAX);
      await stopWorkload(tx, { id, reason: LEAVES, drainSeconds, now: clock.now() });
    },
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

/** True if it waits for a slot that is not available: another workload of the server may have to stop. */
function passedOver(workload: Workload): boolean {
  return workload.state === 'queued' && workload.reason !== '';
}

/** Returns the part of a workload's state that users see; the rest changes far more often. */
function visibleState(workload: Workload): string {
  const awake = { terminatedAt: null, failed: false, sleeping: false, reason: '' };
  return JSON.stringify(showDeployment(awake, workload));
}

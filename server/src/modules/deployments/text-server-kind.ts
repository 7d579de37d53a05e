import type { WorkloadKind } from '../../engine/workload-kind.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { findTextServerOfWorkload, listLiveDeployments } from './queries.ts';
import { reconcileTextServerJob } from './jobs/reconcile-text-server.ts';
import { TEXT_SERVER_KIND } from './reconcile-text-server.ts';

/**
 * How this module hears of its workloads. The engine holds the workload's lock here, and a text
 * server is always locked before its workloads: so the work itself is left to a job.
 */
export function textServerKind(jobs: Jobs): WorkloadKind {
  return {
    name: TEXT_SERVER_KIND,
    onChange: async (tx, workload, before) => {
      const server = await findTextServerOfWorkload(tx, workload.id);
      if (!server) return;
      if (workload.state !== before.state) {
        await jobs.enqueue(tx, reconcileTextServerJob, { serverId: server.id });
      }
      for (const { id, user_id } of await listLiveDeployments(tx, server.id)) {
        await publishChange(tx, user_id, { topic: 'deployment', id });
      }
    },
  };
}

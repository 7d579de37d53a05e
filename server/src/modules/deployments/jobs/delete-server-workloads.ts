import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteServerWorkloadsBefore } from '../servers/server-queries.ts';

const KEPT_DAYS = 30;

/**
 * Deletes ended workloads of model servers. Every start creates a workload, but only the log of the last
 * workload that served a deployment can still be read.
 */
export const deleteServerWorkloadsJob = defineJob({
  name: 'deployments.forget-server-workloads',
  schedule: '29 3 * * *',
  run: async ({ db, clock }, _data: object, signal) => {
    const before = new Date(clock.now().getTime() - KEPT_DAYS * 24 * 3_600_000);
    while (!signal.aborted && (await deleteServerWorkloadsBefore(db, before)) > 0);
  },
});

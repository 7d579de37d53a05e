import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteServerWorkloadsBefore } from '../servers/server-queries.ts';

const KEPT_DAYS = 30;

/** Each start of a model server is a workload: once it has ended, its log is read for a deployment that it answered for, or by nobody. */
export const forgetServerWorkloadsJob = defineJob({
  name: 'deployments.forget-server-workloads',
  schedule: '29 3 * * *',
  run: async ({ db, clock }, _data: object, signal) => {
    const before = new Date(clock.now().getTime() - KEPT_DAYS * 24 * 3_600_000);
    while (!signal.aborted && (await deleteServerWorkloadsBefore(db, before)) > 0);
  },
});

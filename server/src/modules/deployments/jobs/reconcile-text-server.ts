import { defineJob } from '../../../platform/jobs/define-job.ts';
import { reconcileTextServer } from '../reconcile-text-server.ts';

export const reconcileTextServerJob = defineJob<{ serverId: string }>({
  name: 'deployments.reconcile-text-server',
  run: ({ db, clock }, { serverId }) => db.transaction().execute((tx) => reconcileTextServer(tx, clock, serverId)),
});

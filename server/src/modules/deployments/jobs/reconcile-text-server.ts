import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { reconcileTextServer } from '../reconcile-text-server.ts';

export const reconcileTextServerJob = defineJob<{ serverId: string }>({
  name: 'deployments.reconcile-text-server',
  run: ({ db, clock }, { serverId }) => inTransaction(db, (tx) => reconcileTextServer(tx, clock, serverId)),
});

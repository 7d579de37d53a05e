import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { reconcileModelServer } from '../servers/reconcile-model-server.ts';

export const reconcileModelServerJob = defineJob<{ serverId: string }>({
  name: 'deployments.reconcile-model-server',
  run: ({ db, clock }, { serverId }) => inTransaction(db, (tx) => reconcileModelServer(tx, clock, serverId)),
});

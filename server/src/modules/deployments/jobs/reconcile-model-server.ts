import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { settleAllStopped } from '../metering/meter-deployment.ts';
import { type FailedAdapter, reconcileModelServer } from '../servers/reconcile-model-server.ts';

export const reconcileModelServerJob = defineJob<{ serverId: string; failedAdapter?: FailedAdapter }>({
  name: 'deployments.reconcile-model-server',
  run: async (services, { serverId, failedAdapter }) => {
    await inTransaction(services.db, (tx) =>
      reconcileModelServer(tx, services.clock, serverId, failedAdapter),
    );
    await settleAllStopped(services);
  },
});

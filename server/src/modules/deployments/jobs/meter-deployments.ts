import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { UsageLeader } from '../../credits/usage/usage-leader.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';

export const meterDeploymentsJob = (usage: Pick<UsageLeader, 'closeIdle'>) =>
  defineJob({
    name: 'deployments.meter',
    schedule: '* * * * *',
    run: (services) => meterDeployments(services, usage),
  });

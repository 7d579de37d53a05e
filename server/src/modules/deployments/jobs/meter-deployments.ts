import { defineJob } from '../../../platform/jobs/define-job.ts';
import type { IdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';

export const meterDeploymentsJob = (usage: IdleCredit) =>
  defineJob({
    name: 'deployments.meter',
    schedule: '* * * * *',
    run: (services) => meterDeployments(services, usage),
  });

import { defineJob } from '../../../platform/jobs/define-job.ts';
import { meterDeployments } from '../meter-deployments.ts';

export const meterDeploymentsJob = defineJob({
  name: 'deployments.meter',
  schedule: '* * * * *',
  run: (services) => meterDeployments(services),
});

import { defineJob } from '../../../platform/jobs/define-job.ts';
import { sealTransfers } from '../verification/seal-transfers.ts';

/** Gives new transfers their place in the hash chain. */
export const sealTransfersJob = defineJob({
  name: 'credits.seal-transfers',
  schedule: '* * * * *',
  run: async ({ db }) => {
    await sealTransfers(db);
  },
});

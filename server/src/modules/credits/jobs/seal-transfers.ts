import { defineJob } from '../../../platform/jobs/define-job.ts';
import { findUnsealedSeconds } from '../verification/chain-queries.ts';
import { sealTransfers } from '../verification/seal-transfers.ts';

/** Sealing waits for older transactions, and none should take this long. */
const WAIT_S_MAX = 600;

/** Appends new transfers to the hash chain. */
export const sealTransfersJob = defineJob({
  name: 'credits.seal-transfers',
  schedule: '* * * * *',
  run: async ({ db, log }) => {
    await sealTransfers(db);
    const seconds = await findUnsealedSeconds(db);
    if (seconds > WAIT_S_MAX)
      log.warn({ minutes: Math.round(seconds / 60) }, 'sealing is blocked by a long-running transaction');
  },
});

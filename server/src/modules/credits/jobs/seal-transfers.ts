import { defineJob } from '../../../platform/jobs/define-job.ts';
import { findUnsealedSeconds } from '../verification/chain-queries.ts';
import { sealTransfers } from '../verification/seal-transfers.ts';

/** Sealing waits for older transactions, and none should take as long. */
const WAIT_S_MAX = 600;

/** Gives new transfers their place in the hash chain. */
export const sealTransfersJob = defineJob({
  name: 'credits.seal-transfers',
  schedule: '* * * * *',
  run: async ({ db, log }) => {
    await sealTransfers(db);
    const seconds = await findUnsealedSeconds(db);
    if (seconds > WAIT_S_MAX)
      log.warn(
        { minutes: Math.round(seconds / 60) },
        'transfers wait to be sealed: a transaction that does not end blocks them',
      );
  },
});

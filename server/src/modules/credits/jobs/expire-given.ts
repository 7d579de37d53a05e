import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { expireGiven } from '../ledger/ledger-given.ts';

/** Accounts per transaction, so that no account stays locked for long. */
const BATCH = 200;

/** Withdraws expired given credits. */
export const expireGivenJob = defineJob({
  name: 'credits.expire-given',
  schedule: '* * * * *',
  run: async ({ db, clock }) => {
    const now = clock.now();
    for (;;) {
      const expired = await inTransaction(db, (tx) => expireGiven(tx, { now, limit: BATCH }));
      if (expired.length === 0) return;
    }
  },
});

import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { expireHolds } from '../ledger/holds/expire-holds.ts';

/** Holds per transaction, so that no account stays locked for long. */
const BATCH = 200;

/** Gives back what was held for work that ended without a word: its owner no longer extends the hold. */
export const expireHoldsJob = defineJob({
  name: 'credits.expire-holds',
  schedule: '* * * * *',
  run: async ({ db, clock, log }) => {
    const now = clock.now();
    for (;;) {
      const expired = await inTransaction(db, (tx) => expireHolds(tx, { now, limit: BATCH }));
      if (expired > 0)
        log.warn({ holds: expired }, 'holds expired: their work did not settle or release them');
      if (expired < BATCH) return;
    }
  },
});

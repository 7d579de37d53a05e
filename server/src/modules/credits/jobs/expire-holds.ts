import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { expireHolds } from '../ledger/holds/expire-holds.ts';

/** Holds per transaction, so that no account stays locked for long. */
const BATCH = 200;

/** Releases expired holds, for example holds of killed processes. */
export const expireHoldsJob = defineJob({
  name: 'credits.expire-holds',
  schedule: '* * * * *',
  run: async ({ db, clock, log }) => {
    const now = clock.now();
    for (;;) {
      const expired = await inTransaction(db, (tx) => expireHolds(tx, { now, limit: BATCH }));
      if (expired > 0)
        log.warn({ holds: expired }, 'holds expired before their work settled or released them');
      if (expired < BATCH) return;
    }
  },
});

import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { collectDebts } from '../ledger/ledger-given.ts';

/** Users per transaction, so that no account stays locked for long. */
const BATCH = 200;

/** Collects debts from reversed payments as soon as users have credits. */
export const collectDebtsJob = defineJob({
  name: 'credits.collect-debts',
  schedule: '* * * * *',
  run: async ({ db }) => {
    for (;;) {
      const collected = await inTransaction(db, (tx) => collectDebts(tx, { limit: BATCH }));
      if (collected.length === 0) return;
    }
  },
});

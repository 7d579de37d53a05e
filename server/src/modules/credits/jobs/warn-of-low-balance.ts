import { parseBgl } from '@bakehouse/contract/money';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { notify } from '../../notifications/notify.ts';
import { takeLowBalances, watchBalances } from '../low-balance-queries.ts';

/** Users in one transaction: an operator who raises the limit makes many balances low at once. */
const BATCH = 1_000;

/**
 * Notifies users whose balance has come below the limit, once for each time that it does. Credits that are held
 * count as theirs: they may come back.
 */
export const warnOfLowBalanceJob = defineJob({
  name: 'credits.warn-of-low-balance',
  schedule: '* * * * *',
  run: async ({ db, config }) => {
    const limitMicro = parseBgl(config.lowBalanceBgl);
    let warned: number;
    do warned = await inTransaction(db, (tx) => warnSome(tx, limitMicro));
    while (warned === BATCH);
    await inTransaction(db, (tx) => watchBalances(tx, limitMicro));
  },
});

/** Answers how many were notified. */
async function warnSome(tx: Transaction, limitMicro: bigint): Promise<number> {
  const low = await takeLowBalances(tx, limitMicro, BATCH);
  await notify(
    tx,
    ...low.map(({ userId, balanceMicro }) => ({
      userId,
      kind: 'balance_low' as const,
      data: { amount_micro: String(balanceMicro) },
    })),
  );
  return low.length;
}

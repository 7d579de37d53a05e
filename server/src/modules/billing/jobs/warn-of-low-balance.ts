import { parseBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { notify } from '../../notifications/notifications.ts';
import {
  findLastBalanceCheck,
  findLastTransferSeq,
  type Moved,
  saveBalanceCheck,
  unwatchLowBalances,
  watchBalances,
} from '../low-balance-queries.ts';
import { findChainHead } from '../verification/chain-queries.ts';

/** Maximum users per transaction, because a raised limit makes many balances low at the same time. */
const BATCH = 1_000;

/** Maximum transfers per check. */
const MOVED = 10_000;

/**
 * Notifies users when their balance falls below the limit, once per fall. Held credits count as part of the
 * balance, because they may be released. Checks only accounts with new transfers, unless the limit has
 * changed.
 */
export const warnOfLowBalanceJob = defineJob({
  name: 'credits.warn-of-low-balance',
  schedule: '* * * * *',
  run: async ({ db, config }) => {
    const limitMicro = parseBgl(config.lowBalanceBgl);
    // A transfer with a lower number may still appear before unsealed ones. Only continue from the last seal
    // next time, so that unsealed transfers are checked again.
    const sealed = (await findChainHead(db))?.seq ?? 0n;
    const last = await findLastBalanceCheck(db);
    if (last?.limitMicro !== limitMicro) {
      await look(db, { limitMicro, moved: null, seq: sealed });
      return;
    }
    for (let after = last.seq; ; ) {
      const upTo = await findLastTransferSeq(db, after, MOVED);
      if (upTo === null) return;
      await look(db, { limitMicro, moved: { after, upTo }, seq: upTo < sealed ? upTo : sealed });
      after = upTo;
    }
  },
});

/**
 * Checks the accounts of these transfers, or all accounts if `moved` is null. The next check continues after
 * `seq`.
 */
async function look(
  db: Database,
  { limitMicro, moved, seq }: { limitMicro: bigint; moved: Moved | null; seq: bigint },
): Promise<void> {
  let warned: number;
  do warned = await inTransaction(db, (tx) => warnSome(tx, limitMicro, moved));
  while (warned === BATCH);
  await inTransaction(db, async (tx) => {
    await watchBalances(tx, { limitMicro, moved });
    await saveBalanceCheck(tx, { limitMicro, seq });
  });
}

/** Returns the number of notified users. */
async function warnSome(tx: Transaction, limitMicro: bigint, moved: Moved | null): Promise<number> {
  const low = await unwatchLowBalances(tx, { limitMicro, moved, atMost: BATCH });
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

import type { getLedger as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { verifyNewest } from './verify-ledger.ts';

/** The page recomputes this many seals; `./bakehouse ledger verify` recomputes all. */
const SEALS_MAX = 1000;
const USERS_MAX = 200;

/** The largest accounts and the proofs that the books are right; the caller is an operator. */
export async function getLedger(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const report = await verifyNewest(ctx.db, { sealsMax: SEALS_MAX, usersMax: USERS_MAX });
  return {
    accounts: report.largest.map((account) => ({
      account_id: account.id,
      kind: account.kind,
      owner: account.owner,
      balance: formatBgl(account.balance),
      held: formatBgl(account.debits_pending ?? 0n),
      transfers: account.transfers,
    })),
    accounts_total: report.accounts,
    sum_of_balances: formatBgl(report.sumOfBalances),
    transfers: report.transfers,
    open_holds: report.openHolds,
    sealed_transfers: report.sealedTransfers,
    chain_head: report.chainHead,
    checks: report.checks,
  };
}

import type { getLedger as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import type { AccountSums } from './queries.ts';
import { accountBalance, sumOfBalances, verifyLedger } from './verify-ledger.ts';

/** The page recomputes this many seals; `./bakehouse ledger verify` recomputes all. */
const SEALS_MAX = 10_000;
const USERS_MAX = 200;

/** The largest accounts and the proofs that the books are right; the caller is an operator. */
export async function getLedger(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const report = await verifyLedger(ctx.db, { sealsMax: SEALS_MAX });
  return {
    accounts: largest(report.accounts).map((account) => ({
      account_id: account.id,
      kind: account.kind,
      owner: account.owner,
      balance: formatBgl(accountBalance(account)),
      held: formatBgl(account.debits_pending ?? 0n),
      transfers: account.transfers,
    })),
    accounts_total: report.accounts.length,
    sum_of_balances: formatBgl(sumOfBalances(report.accounts)),
    transfers: report.transfers,
    open_holds: report.openHolds,
    sealed_transfers: report.sealedTransfers,
    chain_head: report.chainHead,
    checks: report.checks,
  };
}

function largest(accounts: AccountSums[]): AccountSums[] {
  const users = accounts
    .filter((account) => account.kind === 'user')
    .toSorted((a, b) => Number(accountBalance(b) - accountBalance(a)));
  return [...accounts.filter((account) => account.kind !== 'user'), ...users.slice(0, USERS_MAX)];
}

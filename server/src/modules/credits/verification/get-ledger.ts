import type { getLedger as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { onOwnConnections } from '../../../platform/db/own-connections.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { findChainHead } from '../queries.ts';
import { listLargestAccounts } from './proof-queries.ts';
import { proveLedger } from './prove-ledger.ts';
import { PROOF_CONNECTIONS } from './verify-ledger.ts';

const USERS_MAX = 200;

/** The largest accounts and the proofs that the books are right since they were last proven; the caller is an operator. */
export async function getLedger(ctx: Context, databaseUrl: string): Promise<ResponseOf<typeof contract>> {
  const report = await onOwnConnections(databaseUrl, PROOF_CONNECTIONS, (db) =>
    proveLedger(db, { full: false }),
  );
  const largest = await readSnapshot(ctx.db, async (tx) => {
    const headSeq = (await findChainHead(tx))?.seq ?? 0n;
    return listLargestAccounts(tx, { headSeq, usersMax: USERS_MAX });
  });
  return {
    accounts: largest.map((account) => ({
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

import type { getLedger as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { proofJob } from '../jobs/ledger-jobs.ts';
import { findChainHead } from './chain-queries.ts';
import { countAccounts, findLastProof, listLargestAccounts } from './proof-queries.ts';

const USERS_MAX = 200;

/**
 * Returns the largest accounts and the last proof of the ledger; the caller is an operator. If the last proof
 * is missing or old, queues a new one and does not wait for it.
 */
export async function getLedger(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { last, total, largest } = await readSnapshot(ctx.db, async (tx) => {
    const headSeq = (await findChainHead(tx))?.seq ?? 0n;
    return {
      last: await findLastProof(tx),
      total: await countAccounts(tx),
      largest: await listLargestAccounts(tx, { headSeq, usersMax: USERS_MAX }),
    };
  });
  const isWanted = last === undefined || last.isOld;
  if (isWanted) await inTransaction(ctx.db, (tx) => ctx.jobs.enqueue(tx, proofJob, {}));
  return {
    accounts: largest.map((account) => ({
      account_id: account.id,
      kind: account.kind,
      owner: account.owner,
      balance: formatBgl(account.balance),
      held: formatBgl(account.debits_pending ?? 0n),
      transfers: account.transfers,
    })),
    accounts_total: total,
    proof: last ? { proved_at: last.provedAt.toISOString(), ...last.report } : null,
    is_being_proved: isWanted,
  };
}

import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import {
  beginProof,
  findLastProof,
  insertVerified,
  lockProofs,
  tryLockProofs,
  upsertLastProof,
} from './proof-queries.ts';
import { type LedgerReport, SNAPSHOT_CONNECTIONS, verifyLedger, verifyOnwards } from './verify-ledger.ts';

/** One more for the transaction that keeps other proofs out, and notes this one. */
export const PROOF_CONNECTIONS = SNAPSHOT_CONNECTIONS + 1;

/**
 * Proves the books: all of them, or what came after the last proof. Where all is right, the next one continues
 * from here. Call it on `PROOF_CONNECTIONS` connections without a limit of time. It waits for a proof that is
 * under way in any process; `onWait` is told.
 */
export async function proveLedger(
  db: Database,
  { full, onWait }: { full: boolean; onWait?: () => void },
): Promise<LedgerReport> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) {
      onWait?.();
      await lockProofs(tx);
    }
    return prove(db, tx, { full });
  });
}

/** The same from the last proof on; null, and nothing is done, where a proof is under way or a moment old. */
export async function proveIfOld(db: Database): Promise<LedgerReport | null> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) return null;
    const last = await findLastProof(tx);
    return last && !last.isOld ? null : prove(db, tx, { full: false });
  });
}

/** The lock on proofs is held by `tx`; the books are read on other connections of `db`. */
async function prove(db: Database, tx: Transaction, { full }: { full: boolean }): Promise<LedgerReport> {
  const provedAt = await beginProof(tx);
  const report = (full ? null : await verifyOnwards(db)) ?? (await verifyLedger(db));
  if (report.ok && report.verified) await insertVerified(tx, report.verified);
  await upsertLastProof(tx, {
    provedAt,
    report: {
      sum_of_balances: formatBgl(report.sumOfBalances),
      transfers: report.transfers,
      open_holds: report.openHolds,
      sealed_transfers: report.sealedTransfers,
      chain_head: report.chainHead,
      checks: report.checks,
    },
  });
  return report;
}

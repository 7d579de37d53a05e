import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { beginProof, findLastProof, lockProofs, tryLockProofs, upsertLastProof } from './proof-queries.ts';
import { type LedgerReport, SNAPSHOT_CONNECTIONS, verifyLedger } from './verify-ledger.ts';

/** One more for the transaction that locks proofs and stores the result. */
export const PROOF_CONNECTIONS = SNAPSHOT_CONNECTIONS + 1;

/**
 * Verifies the ledger and stores the result. Needs `PROOF_CONNECTIONS` connections without a timeout. Waits
 * for the proof of another process, after calling `onWait`.
 */
export async function proveLedger(db: Database, onWait?: () => void): Promise<LedgerReport> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) {
      onWait?.();
      await lockProofs(tx);
    }
    return prove(db, tx);
  });
}

/** Verifies the ledger if the last proof is old; returns null if it is not, or if another proof is running. */
export async function proveIfOld(db: Database): Promise<LedgerReport | null> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) return null;
    const last = await findLastProof(tx);
    return last && !last.isOld ? null : prove(db, tx);
  });
}

/** `tx` holds the lock on proofs; the ledger is read on other connections of `db`. */
async function prove(db: Database, tx: Transaction): Promise<LedgerReport> {
  const provedAt = await beginProof(tx);
  const proven = (await findLastProof(tx))?.proven ?? null;
  const begunMs = performance.now();
  const report = await verifyLedger(db, proven);
  await upsertLastProof(tx, {
    provedAt,
    seconds: (performance.now() - begunMs) / 1000,
    proven: report.ok ? report.head : proven,
    report: {
      sum_of_balances: formatBgl(report.sumOfBalances),
      transfers: report.transfers,
      open_holds: report.openHolds,
      sealed_transfers: report.sealedTransfers,
      chain_head: report.head?.hash ?? null,
      checks: report.checks,
    },
  });
  return report;
}

import type { Database } from '../../../platform/db/database.ts';
import { insertVerified } from './proof-queries.ts';
import { type LedgerReport, verifyLedger, verifyOnwards } from './verify-ledger.ts';

/**
 * Proves the books: all of them, or what came after the last proof. Where all is right, the next one continues
 * from here. Call it on a connection without a limit of time.
 */
export async function proveLedger(db: Database, { full }: { full: boolean }): Promise<LedgerReport> {
  const report = (full ? null : await verifyOnwards(db)) ?? (await verifyLedger(db));
  if (report.ok && report.verified) await insertVerified(db, report.verified);
  return report;
}

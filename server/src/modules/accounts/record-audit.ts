import type { AuditAction } from '@bakehouse/contract/audit';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { insertAuditEntry } from './queries.ts';

/**
 * Adds a row to the audit log; rows are never changed or deleted. `action` is a dotted verb in the past
 * tense; `detail` must not contain secrets.
 */
export async function recordAudit(
  tx: Database | Transaction,
  entry: { userId: string | null; action: AuditAction; detail?: Record<string, string> },
): Promise<void> {
  await insertAuditEntry(tx, { detail: {}, ...entry });
}

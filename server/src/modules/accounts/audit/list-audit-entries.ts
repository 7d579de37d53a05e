import type { Database } from '../../../platform/db/database.ts';
import { selectAuditEntries } from './queries.ts';

export type StoredEntry = {
  id: bigint;
  at: Date;
  userId: string | null;
  username: string | null;
  action: string;
  detail: Record<string, string>;
};

/** What was recorded before the entry `before`, newest first. */
export async function listAuditEntries(
  db: Database,
  filter: { userId?: string; noun?: string; before: bigint; limit: number },
): Promise<StoredEntry[]> {
  return selectAuditEntries(db, filter);
}

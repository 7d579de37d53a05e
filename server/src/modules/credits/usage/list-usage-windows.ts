import { formatBgl } from '@bakehouse/contract/money';
import type { Database } from '../../../platform/db/database.ts';
import { listWindows } from './usage-queries.ts';

/** A user's usage windows as they were opened, without their single answers; those that come after the window `cursor`. */
export async function listUsageWindows(
  db: Database,
  page: { userId: string; cursor: string | undefined; limit: number },
) {
  const rows = await listWindows(db, page);
  return rows.map(({ used_micro, events, ...row }) => ({
    ...row,
    answers: Number(events),
    used: formatBgl(used_micro),
  }));
}

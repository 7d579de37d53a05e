import { listTransactions } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { readAllPages } from '../../../../lib/api/read-all-pages.ts';
import { type Period, withTimeZone } from '../period.ts';
import { type StatementRow, withRunningBalance } from '../transaction-rows.ts';

const PAGE_LENGTH = 200;

/**
 * Reads all settled movements of a period with the balance after each, newest first. `from` and `to` are
 * inclusive days. Throws an `ApiError`.
 */
export async function readStatement(userId: string, period: Period): Promise<StatementRow[]> {
  const query = { ...withTimeZone(period), limit: PAGE_LENGTH };
  const pages = await readAllPages((cursor) =>
    call(listTransactions, { params: { userId }, query: { ...query, cursor } }),
  );
  const balance = pages[0]?.closing_balance ?? null;
  // The server omits the closing balance only if a key is selected.
  if (balance === null) throw new Error('the first page of the statement has no closing balance');
  return withRunningBalance(
    pages.flatMap((page) => page.transactions),
    balance,
  );
}

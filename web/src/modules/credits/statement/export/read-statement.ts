import { listTransactions } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { type Period, withTimeZone } from '../period.ts';
import { type StatementRow, type Transaction, withRunningBalance } from '../transaction-rows.ts';

const PAGE_LENGTH = 200;

/**
 * All settled movements of a period with the balance after each, newest first. `from` and `to` are inclusive
 * days. Throws an `ApiError`.
 */
export async function readStatement(userId: string, period: Period): Promise<StatementRow[]> {
  const readPage = (cursor?: string) =>
    call(
      listTransactions,
      { params: { userId }, query: { ...withTimeZone(period), limit: PAGE_LENGTH, cursor } },
      { operation: 'load the transactions' },
    );
  let page = await readPage();
  const balance = page.closing_balance;
  // Without a key the first page says it.
  if (balance === null) throw new Error('The statement has no balance to reckon from');
  const transactions: Transaction[] = [...page.transactions];
  // Older pages do not change.
  while (page.next_cursor) {
    page = await readPage(page.next_cursor);
    transactions.push(...page.transactions);
  }
  return withRunningBalance(transactions, balance);
}

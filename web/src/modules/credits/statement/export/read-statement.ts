import { listTransactions } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { readNewest } from '../balances/read-newest.ts';
import { type Period, withTimeZone } from '../period.ts';
import { type StatementRow, type Transaction, untilDay, withRunningBalance } from '../transaction-rows.ts';

const PAGE_LENGTH = 200;

/**
 * All settled movements of a period with the balance after each, newest first. `from` and `to` are inclusive
 * days. Throws an `ApiError`.
 */
export async function readStatement(userId: string, { from, to }: Period): Promise<StatementRow[]> {
  const operation = 'load the transactions';
  const readPage = (cursor?: string) =>
    call(
      listTransactions,
      { params: { userId }, query: { ...withTimeZone({ from }), limit: PAGE_LENGTH, cursor } },
      { operation },
    );
  const newest = await readNewest(userId, () => readPage(), { operation });
  let { page } = newest;
  const transactions: Transaction[] = [...page.transactions];
  // Older pages do not change.
  while (page.next_cursor) {
    page = await readPage(page.next_cursor);
    transactions.push(...page.transactions);
  }
  return untilDay(withRunningBalance(transactions, newest.balance), to);
}

import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { type Period, withTimeZone } from '../period.ts';
import { type StatementRow, type Transaction, untilDay, withRunningBalance } from '../transaction-rows.ts';

const PAGE_LENGTH = 200;

/**
 * All settled movements of a period with the balance after each, newest first. `from` and `to` are inclusive
 * days. Throws an `ApiError`.
 */
export async function readStatement(userId: string, { from, to }: Period): Promise<StatementRow[]> {
  const operation = 'load the transactions';
  const readBalance = async () => (await call(getBalance, { params: { userId } }, { operation })).balance;
  const readPage = (cursor?: string) =>
    call(
      listTransactions,
      { params: { userId }, query: { ...withTimeZone({ from }), limit: PAGE_LENGTH, cursor } },
      { operation },
    );
  let balance = '';
  let page: Awaited<ReturnType<typeof readPage>>;
  // The balance must be the one that the newest movement has left; older pages do not change.
  do {
    balance = await readBalance();
    page = await readPage();
  } while (balance !== (await readBalance()));
  const transactions: Transaction[] = [...page.transactions];
  while (page.next_cursor) {
    page = await readPage(page.next_cursor);
    transactions.push(...page.transactions);
  }
  return untilDay(withRunningBalance(transactions, balance), to);
}

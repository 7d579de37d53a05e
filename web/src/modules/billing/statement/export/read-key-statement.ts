import { listTransactions } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { readAllPages } from '../../../../lib/api/read-all-pages.ts';
import { type Period, withTimeZone } from '../period.ts';
import type { StatementRow } from '../transaction-rows.ts';

const PAGE_LENGTH = 200;

/** A line of an export. Movements of a single API key have no balance. */
export type ExportedRow = Pick<StatementRow, 'transaction'> & { balanceAfter: string | null };

/**
 * Reads all settled movements of one API key in a period, newest first. `from` and `to` are inclusive days.
 * Throws an `ApiError`.
 */
export async function readKeyStatement(
  userId: string,
  { period, keyId }: { period: Period; keyId: string },
): Promise<ExportedRow[]> {
  const query = { ...withTimeZone(period), key_id: keyId, limit: PAGE_LENGTH };
  const pages = await readAllPages((cursor) =>
    call(listTransactions, { params: { userId }, query: { ...query, cursor } }),
  );
  return pages
    .flatMap((page) => page.transactions)
    .filter(({ status }) => status === 'completed')
    .map((transaction) => ({ transaction, balanceAfter: null }));
}

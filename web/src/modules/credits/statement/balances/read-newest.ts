import { getBalance } from '@bakehouse/contract/credits';
import { call } from '../../../../lib/api/api-client.ts';
import { forgetReads } from '../../../../lib/api/shared-reads.ts';

type Options = { signal?: AbortSignal; operation: string };

/**
 * Reads the newest page of an account's movements together with the balance that they have left: where something was
 * booked meanwhile, both are read again. Throws an `ApiError`.
 */
export async function readNewest<Page>(
  userId: string,
  readPage: () => Promise<Page>,
  options: Options,
): Promise<{ page: Page; balance: string }> {
  const readBalance = async () => {
    // One that is under way for somebody else may be of before the page.
    forgetReads();
    return (await call(getBalance, { params: { userId } }, options)).balance;
  };
  let balance: string;
  let page: Page;
  do {
    balance = await readBalance();
    page = await readPage();
  } while (balance !== (await readBalance()));
  return { page, balance };
}

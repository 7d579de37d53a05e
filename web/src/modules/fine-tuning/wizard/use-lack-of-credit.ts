import { parseBgl } from '@bakehouse/contract/money';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { insufficientBalance } from '../../../lib/format/insufficient-balance.ts';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../../billing/credit-queries.ts';
import { holdAtStart, type Priced } from './review/agreed-cost.ts';

/** Returns an error if the amount to hold exceeds the balance; null if it suffices or is unknown. */
export function useLackOfCredit(priced: Priced | null | undefined, ceiling: string): string | null {
  const currency = currencyChoice.use();
  const available = useBalance(useUser().id).data?.available;
  if (!priced || available === undefined) return null;
  const required = holdAtStart(priced, ceiling);
  if (parseBgl(required) <= parseBgl(available)) return null;
  return insufficientBalance(required, available, currency);
}

import { formatBgl } from '@bakehouse/contract/money';
import { AppError } from '../../../platform/errors.ts';

type Costs = {
  /** The current cost. */
  micro: bigint;
  /** The quoted cost; undefined if the call has none. */
  maxMicro: bigint | undefined;
  /** As in 'this run now costs 2 BGL'. */
  what: string;
  /** The field with the quoted cost. */
  param: string;
};

/** Throws AppError 'conflict' with the new price if the cost exceeds the quoted cost. */
export function refuseHigherCost({ micro, maxMicro, what, param }: Costs): void {
  if (maxMicro === undefined || micro <= maxMicro) return;
  throw new AppError('conflict', {
    publicMessage: `The price has changed: ${what} now costs ${formatBgl(micro)} BGL`,
    param,
  });
}

import { formatBgl } from '@bakehouse/contract/money';
import { AppError } from '../../../platform/errors.ts';

type Costs = {
  /** What it costs now. */
  micro: bigint;
  /** What its caller was quoted; undefined where the call does not say. */
  maxMicro: bigint | undefined;
  /** As in 'this run now costs 2 BGL'. */
  what: string;
  /** The field in which the caller says so. */
  param: string;
};

/** Throws AppError('conflict') with the new price where something costs more than its caller was quoted. */
export function refuseHigherCost({ micro, maxMicro, what, param }: Costs): void {
  if (maxMicro === undefined || micro <= maxMicro) return;
  throw new AppError('conflict', {
    publicMessage: `The price has changed: ${what} now costs ${formatBgl(micro)} BGL`,
    param,
  });
}

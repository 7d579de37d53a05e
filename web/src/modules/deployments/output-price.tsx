import type { Generator } from '@bakehouse/contract/generators/generator';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { Money } from '../../ui/money.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { pricesQuery } from '../billing/credit-queries.ts';
import { type Kind, kindRow, type OutputCost } from './kinds.ts';

/** Unit prices are per this many steps. */
const STEPS_PRICED = 1_000n;

/**
 * Completes the sentence about the hourly price with the price of one output at the default steps.
 */
export function OutputPrice({ kind }: { kind: Kind }) {
  const { output, tokensNote } = kindRow(kind);
  return output ? <PricePerOutput output={output} /> : tokensNote;
}

function PricePerOutput({ output }: { output: OutputCost }) {
  const { data, isPending } = useQuery(pricesQuery);
  const price = data?.prices.find(({ id }) => id === output.priceId);
  if (!price && !isPending) return null;
  const { generator } = output;
  const steps = defaultOf(generator, output.steps);
  const experts = output.experts === undefined ? 1 : defaultOf(generator, output.experts);
  return (
    <>
      , and {price ? <Money unrounded bgl={priceOf(price.unit_price, steps * experts)} /> : <AmountToCome />}{' '}
      for each {output.makes ?? 'picture'} with {steps} steps
      {experts > 1 && ` by ${experts} experts`}
    </>
  );
}

/** Rounds up to the ledger's unit. */
function priceOf(unitPrice: string, steps: number): string {
  return formatBgl((parseBgl(unitPrice) * BigInt(steps) + STEPS_PRICED - 1n) / STEPS_PRICED);
}

/** Reserves the width of the amount. */
function AmountToCome() {
  return <Skeleton className="inline-block h-3 w-16 align-middle" />;
}

function defaultOf({ title, fields }: Generator, wanted: string): number {
  const field = fields.find(({ name }) => name === wanted);
  if (field?.kind !== 'number') throw new Error(`${title} has no number field ${wanted}`);
  return field.default;
}

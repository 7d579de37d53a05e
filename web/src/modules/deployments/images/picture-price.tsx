import { fluxKontext } from '@bakehouse/contract/generators/flux-kontext';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { Money } from '../../../ui/money.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { pricesQuery } from '../../credits/api.ts';

const STEPS = defaultSteps();
/** What the price is of. */
const STEPS_PRICED = 1_000n;

/** Goes on where a sentence has said what the hours of a deployment cost: with the price of its pictures. */
export function PicturePrice() {
  const { data, isPending } = useQuery(pricesQuery);
  const price = data?.prices.find(({ id }) => id === 'edits');
  if (!price && !isPending) return null;
  return (
    <>
      , and {price ? <Money bgl={priceOfPicture(price.unit_price)} /> : <AmountToCome />} for each picture of{' '}
      {STEPS} steps
    </>
  );
}

/** Rounded up to what the ledger counts in. */
function priceOfPicture(unitPrice: string): string {
  return formatBgl((parseBgl(unitPrice) * BigInt(STEPS) + STEPS_PRICED - 1n) / STEPS_PRICED);
}

/** The sentence does not grow once the amount is there. */
function AmountToCome() {
  return <Skeleton className="inline-block h-3 w-16 align-middle" />;
}

function defaultSteps(): number {
  const field = fluxKontext.fields.find(({ name }) => name === 'num_inference_steps');
  if (field?.kind !== 'number') throw new Error('Kontext has no number of steps');
  return field.default;
}

import { fluxKontext } from '@bakehouse/contract/generators/flux-kontext';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { Money } from '../../../ui/money.tsx';
import { pricesQuery } from '../../credits/api.ts';

const STEPS = stepsUnlessSaid();
/** What the price is of. */
const STEPS_PRICED = 1_000n;

/** Goes on where a sentence has said what the hours of a deployment cost: with the price of its pictures, once that is there. */
export function PicturePrice() {
  const { data } = useQuery(pricesQuery);
  const price = data?.prices.find(({ id }) => id === 'edits');
  if (!price) return null;
  const micro = (parseBgl(price.unit_price) * BigInt(STEPS) + STEPS_PRICED - 1n) / STEPS_PRICED;
  return (
    <>
      , and <Money bgl={formatBgl(micro)} /> for each picture of {STEPS} steps
    </>
  );
}

function stepsUnlessSaid(): number {
  const field = fluxKontext.fields.find(({ name }) => name === 'num_inference_steps');
  if (field?.kind !== 'number') throw new Error('Kontext has no number of steps');
  return field.default;
}

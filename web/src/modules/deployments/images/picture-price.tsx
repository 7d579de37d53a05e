import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import { fluxKontext } from '@bakehouse/contract/generators/flux-kontext';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { paris } from '@bakehouse/contract/generators/paris';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { Money } from '../../../ui/money.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { pricesQuery } from '../../credits/api.ts';

/** What the price is of. */
const STEPS_PRICED = 1_000n;

type Priced = {
  priceId: string;
  /** The steps of a picture, unless one asks for others. */
  steps: number;
  /** How many experts take each of them. */
  experts: number;
};

const flux: Priced = { priceId: 'edits', steps: defaultOf(fluxKontext, 'num_inference_steps'), experts: 1 };

const priced: Record<ImageDeploymentKind, Priced> = {
  flux,
  'flux-kontext': flux,
  paris: {
    priceId: 'pictures:CPU',
    steps: defaultOf(paris, 'num_inference_steps'),
    experts: defaultOf(paris, 'k'),
  },
};

/** Goes on where a sentence has said what the hours of a deployment cost: with the price of its pictures. */
export function PicturePrice({ kind }: { kind: ImageDeploymentKind }) {
  const { data, isPending } = useQuery(pricesQuery);
  const { priceId, steps, experts } = priced[kind];
  const price = data?.prices.find(({ id }) => id === priceId);
  if (!price && !isPending) return null;
  return (
    <>
      , and {price ? <Money bgl={priceOf(price.unit_price, steps * experts)} /> : <AmountToCome />} for each
      picture of {steps} steps{experts > 1 && ` by ${experts} experts`}
    </>
  );
}

/** Rounded up to what the ledger counts in. */
function priceOf(unitPrice: string, steps: number): string {
  return formatBgl((parseBgl(unitPrice) * BigInt(steps) + STEPS_PRICED - 1n) / STEPS_PRICED);
}

/** The sentence does not grow once the amount is there. */
function AmountToCome() {
  return <Skeleton className="inline-block h-3 w-16 align-middle" />;
}

function defaultOf({ title, fields }: Generator, wanted: string): number {
  const field = fields.find(({ name }) => name === wanted);
  if (field?.kind !== 'number') throw new Error(`${title} has no number ${wanted}`);
  return field.default;
}

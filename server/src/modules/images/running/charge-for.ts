import { picturesAsked } from '@bakehouse/contract/generators/parameters/pictures-asked';
import type { GenerationRow } from '../queries.ts';

/** What so many pictures cost of a generation that was quoted for all that were asked for. Pure. */
export function chargeFor(
  { held_micro: heldMicro, parameters }: Pick<GenerationRow, 'held_micro' | 'parameters'>,
  pictures: number,
): bigint {
  const asked = picturesAsked(parameters);
  return (heldMicro * BigInt(Math.min(pictures, asked))) / BigInt(asked);
}

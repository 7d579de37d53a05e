import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { atService } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import { PARIS_MODEL } from '@bakehouse/contract/paris';
import type { ServedGenerator } from '../served-generators.ts';

/** The service that generates on this page unless another is named; null where a model of this installation does, or nobody. */
function upstreamOf(
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): ServedGenerator['upstreams'][number] | null {
  if (ownOnly || !served || served.served_by[0] !== 'upstream') return null;
  return served.upstreams[0] ?? null;
}

/** The form as whoever generates takes it, unless another is named. */
export function servedForm(
  name: GeneratorName,
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): Generator {
  return atService(generators[name], upstreamOf(served, ownOnly)?.fields);
}

/** The starter models by the generators that they serve where nothing else does: that is known before it is known who is connected. */
export const starterNames: Partial<Record<GeneratorName, string>> = {
  paris: PARIS_MODEL,
  'flux-kontext': KONTEXT_STARTER,
};

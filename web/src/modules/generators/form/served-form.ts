import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { atService } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
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

/** Whether the starter generates unless another is named. */
export function isStarterFirst(name: GeneratorName, served: ServedGenerator | undefined): boolean {
  const { starter }: Generator = generators[name];
  return starter !== undefined && served?.served_by[0] === 'own';
}

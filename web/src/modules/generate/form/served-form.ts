import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { formOfService } from '@bakehouse/contract/generators/parameters/parameters';
import { formOfSubstitute } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import type { ServedGenerator } from '../served-generators.ts';
import { hasStarter } from './providers.ts';

/** Returns the page's default service; null if a model of this installation generates, or nothing does. */
function upstreamOf(
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): ServedGenerator['upstreams'][number] | null {
  if (ownOnly || !served || served.served_by[0] !== 'upstream') return null;
  return served.upstreams[0] ?? null;
}

/** Returns the form for the default provider. */
export function servedForm(
  name: GeneratorName,
  served: ServedGenerator | undefined,
  ownOnly: boolean,
): Generator {
  const upstream = upstreamOf(served, ownOnly);
  const isStandIn = !upstream && served?.served_by.includes('own') === true && !hasStarter(name);
  return isStandIn ? formOfSubstitute(name) : formOfService(generators[name], upstream?.fields);
}

/** Returns true if the starter is the default provider. */
export function isStarterFirst(name: GeneratorName, served: ServedGenerator | undefined): boolean {
  return hasStarter(name) && served?.served_by[0] === 'own';
}

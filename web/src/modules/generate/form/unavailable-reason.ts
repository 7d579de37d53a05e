import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { hasStarter } from './providers.ts';

/** Returns true if the page can generate; a page of own models counts only those. */
export function isServed(servedBy: readonly Provider[], ownOnly: boolean): boolean {
  return ownOnly ? servedBy.includes('own') : servedBy.length > 0;
}

/** Providers of the generators, as far as used here. */
export type ServedBy = Partial<Record<GeneratorName, { served_by: Provider[]; is_being_prepared: boolean }>>;

/** Returns true if a service or the generator's own model serves it, not another generator's starter. */
export function isConnected(name: GeneratorName, served: ServedBy, ownOnly: boolean): boolean {
  const by = served[name]?.served_by ?? [];
  return isServed(by, ownOnly) && (hasStarter(name) || (!ownOnly && by.includes('upstream')));
}

/** Returns a short label for a generator that is not connected. */
export function servedByLabel(served: ServedBy[GeneratorName]): string {
  if (served?.is_being_prepared) return 'being prepared';
  return isServed(served?.served_by ?? [], false) ? 'starter model' : 'not connected';
}

/** Returns why a page cannot generate, as a sentence. */
export function unavailableReason(
  { title, makes, retired }: Generator,
  { ownOnly, isBeingPrepared }: { ownOnly: boolean; isBeingPrepared: boolean },
): string {
  if (retired !== undefined) return retired;
  if (isBeingPrepared)
    return `The starter model for ${title} is still being prepared. You can generate as soon as it is ready.`;
  return ownOnly
    ? `No suitable ${makes === 'image' ? 'picture' : 'video'} model is deployed on this server.`
    : 'It needs a deployment, or a service that an operator connects.';
}

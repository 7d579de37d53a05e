import type { GeneratorName, Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { hasStarter } from './providers.ts';

/** Whether Generate can do something here; on a page of this installation's own models those alone count. */
export function isServed(servedBy: readonly Provider[], ownOnly: boolean): boolean {
  return ownOnly ? servedBy.includes('own') : servedBy.length > 0;
}

/** As much of who serves each generator as it takes to say whether it works here. */
export type ServedBy = Partial<Record<GeneratorName, { served_by: Provider[]; is_being_prepared: boolean }>>;

/** Whether a service or a model of its own answers, and not another generator's starter in its place. */
export function isConnected(name: GeneratorName, served: ServedBy, ownOnly: boolean): boolean {
  const by = served[name]?.served_by ?? [];
  return isServed(by, ownOnly) && (hasStarter(name) || (!ownOnly && by.includes('upstream')));
}

/** What answers where it is not connected, in two words. */
export function answeredBy(served: ServedBy[GeneratorName]): string {
  if (served?.is_being_prepared) return 'being prepared';
  return isServed(served?.served_by ?? [], false) ? 'starter model' : 'not connected';
}

/** What a page that is not served waits for, in a sentence. */
export function waitsFor(
  { title, makes, retired }: Generator,
  { ownOnly, isBeingPrepared }: { ownOnly: boolean; isBeingPrepared: boolean },
): string {
  if (retired !== undefined) return retired;
  if (isBeingPrepared)
    return `The starter model for ${title} is still being prepared. You can generate as soon as it is ready.`;
  const things = makes === 'image' ? 'pictures' : 'videos';
  return ownOnly
    ? `Nobody has deployed a model here that makes its ${things}.`
    : `Its ${things} come from a deployment or a service that an operator connects.`;
}

import type { Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';

/** Whether Generate can do something here; on a page of this installation's own models those alone count. */
export function isServed(servedBy: readonly Provider[], ownOnly: boolean): boolean {
  return ownOnly ? servedBy.includes('own') : servedBy.length > 0;
}

/** What a page that is not served waits for, in a sentence. */
export function waitsFor({ title, makes, retired }: Generator, ownOnly: boolean): string {
  if (retired !== undefined) return retired;
  const things = makes === 'image' ? 'pictures' : 'videos';
  return ownOnly
    ? `${title} needs a model on this installation that makes ${things}. None is being served yet.`
    : `${title} needs an engine or a service that makes ${things}. None is connected to this server yet.`;
}

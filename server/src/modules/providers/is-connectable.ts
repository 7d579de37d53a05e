import type { GeneratorName } from '@bakehouse/contract/generators';
import { upstreamModels } from './upstream-models.ts';

/** Whether there is a service that serves the generator, with a key here or without. */
export function isConnectable(generator: GeneratorName): boolean {
  return generator in upstreamModels;
}

import type { GeneratorName } from '@bakehouse/contract/generators';
import { services } from './services/services.ts';
import { type UpstreamModel, upstreamModels } from './upstream-models.ts';

/** The name of the service that has this model of the generator, with a key here or without; null where none has. */
export function findServiceTitle(generator: GeneratorName, model: string): string | null {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = upstreamModels;
  const found = models[generator]?.find((one) => one.model === model);
  return found ? services[found.service].title : null;
}

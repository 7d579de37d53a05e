import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Config } from '../../config.ts';
import { type ServiceName, services } from './services/services.ts';
import { type UpstreamGenerator, type UpstreamModel, upstreamModels } from './upstream-models.ts';

export type Upstream = {
  generator: UpstreamGenerator;
  service: ServiceName;
  /** The service's name. */
  title: string;
  /** The model's name there. */
  model: string;
  /** Which of the form's fields it takes. */
  fields: string[];
};

/** The service that draws for the generator, by this `model` of it where one is named; undefined where none has a key. */
export function findUpstream(
  { upstreams }: Pick<Config, 'upstreams'>,
  generator: GeneratorName,
  model?: string,
): Upstream | undefined {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = upstreamModels;
  const found = models[generator]?.find(
    (one) => upstreams[one.service] !== null && (model === undefined || one.model === model),
  );
  if (!found) return undefined;
  return {
    generator: generator as UpstreamGenerator,
    service: found.service,
    title: services[found.service].title,
    model: found.model,
    fields: Object.keys(found.fields),
  };
}

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

/** The services that have a key and serve the generator; the first of them does unless another is named. */
export function findUpstreams(
  { upstreams }: Pick<Config, 'upstreams'>,
  generator: GeneratorName,
): Upstream[] {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = upstreamModels;
  return (models[generator] ?? [])
    .filter(({ service }) => upstreams[service] !== null)
    .map(({ service, model, fields }) => ({
      generator: generator as UpstreamGenerator,
      ...{ service, title: services[service].title, model, fields: Object.keys(fields) },
    }));
}

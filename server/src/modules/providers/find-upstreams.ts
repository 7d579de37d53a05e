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

/** The models of a generator, with a key here or without. */
function modelsOf(generator: GeneratorName): readonly UpstreamModel[] {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = upstreamModels;
  return models[generator] ?? [];
}

/** The services that have a key and serve the generator; the first of them does unless another is named. */
export function findUpstreams(
  { upstreams }: Pick<Config, 'upstreams'>,
  generator: GeneratorName,
): Upstream[] {
  return modelsOf(generator)
    .filter(({ service }) => upstreams[service] !== null)
    .map(({ service, model, fields }) => ({
      generator: generator as UpstreamGenerator,
      ...{ service, title: services[service].title, model, fields: Object.keys(fields) },
    }));
}

/** Every generator that a service serves here, with the first that does. */
export function listUpstreams(config: Pick<Config, 'upstreams'>): Upstream[] {
  const names = Object.keys(upstreamModels) as UpstreamGenerator[];
  return names.flatMap((name) => findUpstreams(config, name).slice(0, 1));
}

/** A generator's model by its name at its service. */
export function findUpstreamModel(generator: GeneratorName, model: string): UpstreamModel | undefined {
  return modelsOf(generator).find((one) => one.model === model);
}

/** The name of the service that has this model of the generator, with a key here or without; null where none has. */
export function findServiceTitle(generator: GeneratorName, model: string): string | null {
  const found = findUpstreamModel(generator, model);
  return found ? services[found.service].title : null;
}

/** Whether there is a service that serves the generator, with a key here or without. */
export function isConnectable(generator: GeneratorName): boolean {
  return modelsOf(generator).length > 0;
}

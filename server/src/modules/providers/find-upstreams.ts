import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Config } from '../../config.ts';
import type { UpstreamModel } from './field-mappers.ts';
import { type ServiceName, services } from './services/services.ts';
import { type UpstreamGenerator, upstreamModels } from './upstream-models.ts';
import { type UpstreamVideo, upstreamVideos } from './upstream-videos.ts';

export type Upstream = {
  generator: UpstreamGenerator | UpstreamVideo;
  service: ServiceName;
  /** The service's name. */
  title: string;
  /** The model's name there. */
  model: string;
  /** Which of the form's fields it takes. */
  fields: string[];
  problem: UpstreamModel['problem'];
};

/** The models of a generator, with a key here or without. */
function modelsOf(generator: GeneratorName): readonly UpstreamModel[] {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = {
    ...upstreamModels,
    ...upstreamVideos,
  };
  return models[generator] ?? [];
}

/** The services that have a key and serve the generator; the first of them does unless another is named. */
export function findUpstreams(
  { upstreams }: Pick<Config, 'upstreams'>,
  generator: GeneratorName,
): Upstream[] {
  return modelsOf(generator)
    .filter(({ service }) => upstreams[service] !== null)
    .map(({ service, model, fields, picture, problem }) => ({
      generator: generator as Upstream['generator'],
      ...{ service, title: services[service].title, model, problem },
      fields: [...Object.keys(fields), ...(picture ? ['image'] : [])],
    }));
}

/** Every generator of pictures that a service serves here, with the first that does. */
export function listUpstreams(
  config: Pick<Config, 'upstreams'>,
): (Upstream & { generator: UpstreamGenerator })[] {
  const names = Object.keys(upstreamModels) as UpstreamGenerator[];
  return names.flatMap((name) =>
    findUpstreams(config, name)
      .slice(0, 1)
      .map((upstream) => ({ ...upstream, generator: name })),
  );
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

import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Config } from '../../config.ts';
import type { UpstreamModel } from './field-mappers.ts';
import { type ServiceName, services } from './services/services.ts';
import { type UpstreamGenerator, upstreamModels } from './upstream-models.ts';
import { type UpstreamVideo, upstreamVideos } from './upstream-videos.ts';

export type Upstream = {
  generator: UpstreamGenerator | UpstreamVideo;
  service: ServiceName;
  /** Display name of the service. */
  title: string;
  /** Model name at the service. */
  model: string;
  /** Supported form fields. */
  fields: string[];
  problem: UpstreamModel['problem'];
};

/** Returns a generator's models at all services, with and without a key. */
function modelsOf(generator: GeneratorName): readonly UpstreamModel[] {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = {
    ...upstreamModels,
    ...upstreamVideos,
  };
  return models[generator] ?? [];
}

/** Returns the configured services for a generator. The first is the default. */
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

/** Returns every picture generator that a configured service supports, with its default service. */
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

/** Returns a generator's model that has this name at its service. */
export function findUpstreamModel(generator: GeneratorName, model: string): UpstreamModel | undefined {
  return modelsOf(generator).find((one) => one.model === model);
}

/**
 * Returns the title of the service that has this model, even if the service has no key; null if no service
 * has it.
 */
export function findServiceTitle(generator: GeneratorName, model: string): string | null {
  const found = findUpstreamModel(generator, model);
  return found ? services[found.service].title : null;
}

/** True if any service supports the generator, even without a key. */
export function isConnectable(generator: GeneratorName): boolean {
  return modelsOf(generator).length > 0;
}

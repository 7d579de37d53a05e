import type { Config } from '../../config.ts';
import { findUpstreams, type Upstream } from './find-upstreams.ts';
import { type UpstreamGenerator, upstreamModels } from './upstream-models.ts';

/** Every generator that a service serves here, with the first that does. */
export function listUpstreams(config: Pick<Config, 'upstreams'>): Upstream[] {
  const names = Object.keys(upstreamModels) as UpstreamGenerator[];
  return names.flatMap((name) => findUpstreams(config, name).slice(0, 1));
}

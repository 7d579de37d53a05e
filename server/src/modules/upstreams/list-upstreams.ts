import type { Config } from '../../config.ts';
import { findUpstream, type Upstream } from './find-upstream.ts';
import { type UpstreamGenerator, upstreamModels } from './upstream-models.ts';

/** Every generator that a service draws for here, with the service. */
export function listUpstreams(config: Pick<Config, 'upstreams'>): Upstream[] {
  const names = Object.keys(upstreamModels) as UpstreamGenerator[];
  return names.flatMap((name) => findUpstream(config, name) ?? []);
}

import type { DeploymentRow } from '../../queries.ts';

/** One that was asked to have a replica at least never sleeps. */
export function neverSleeps({
  auto_scale,
  min_replicas,
}: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>) {
  return auto_scale && min_replicas > 0;
}

import type { DeploymentRow } from '../../queries.ts';

/** True if at least one replica was requested permanently. */
export function neverSleeps({
  auto_scale,
  min_replicas,
}: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>) {
  return auto_scale && min_replicas > 0;
}

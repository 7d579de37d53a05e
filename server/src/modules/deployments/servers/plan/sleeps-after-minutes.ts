import type { Config } from '../../../../config.ts';
import type { DeploymentRow } from '../../queries.ts';
import { neverSleeps } from './never-sleeps.ts';

/** After how long without a request a deployment sleeps; null where it never does. */
export function sleepsAfterMinutes(
  { idleMinutes }: Pick<Config, 'idleMinutes'>,
  deployment: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>,
): number | null {
  return idleMinutes > 0 && !neverSleeps(deployment) ? idleMinutes : null;
}

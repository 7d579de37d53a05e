import type { Config } from '../../../../config.ts';
import type { DeploymentRow } from '../../queries.ts';
import { neverSleeps } from './never-sleeps.ts';

/** Returns the minutes without a request after which a deployment sleeps; null if it never does. */
export function sleepsAfterMinutes(
  { idleMinutes }: Pick<Config, 'idleMinutes'>,
  deployment: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>,
): number | null {
  return idleMinutes > 0 && !neverSleeps(deployment) ? idleMinutes : null;
}

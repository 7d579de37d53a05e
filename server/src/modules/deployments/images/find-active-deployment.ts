import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import type { Context } from '../../../platform/context.ts';
import { selectDeployments } from '../find-deployments.ts';

/**
 * Returns the name of the caller's deployment to generate with: the newest usable one, else the newest live
 * one; null if there is none.
 */
export async function findActiveDeployment(
  { db, caller }: Context,
  kind: ImageDeploymentKind,
): Promise<string | null> {
  const { userId } = caller;
  const live = { userId, kinds: [kind], includeTerminated: false, limit: 1 } as const;
  const [usable] = await selectDeployments(db, { ...live, usable: true });
  const [newest] = usable ? [usable] : await selectDeployments(db, live);
  return newest?.model_name ?? null;
}

import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import type { Context } from '../../../platform/context.ts';
import { selectDeployments } from '../find-deployments.ts';

/** Returns the names of the caller's live deployments of these kinds. */
export async function listImageModelNames(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  kinds: readonly ImageDeploymentKind[],
): Promise<string[]> {
  const live = await selectDeployments(db, { userId: caller.userId, kinds, includeTerminated: false });
  return live.map(({ model_name: name }) => name);
}

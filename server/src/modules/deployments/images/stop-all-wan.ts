import type { stopAllWan as contract } from '@bakehouse/contract/deployments/images';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { selectDeployments } from '../find-deployments.ts';
import { toImageDeployment } from '../kinds/to-image-deployment.ts';
import { terminateDeployment } from '../terminate-deployment.ts';

/**
 * Terminates all Wan deployments of the caller and settles their bills. Skips deployments that end
 * concurrently.
 */
export async function stopAllWan(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const kinds = ['wan'] as const;
  const live = await selectDeployments(ctx.db, { userId, kinds, includeTerminated: false });
  const stopped = [];
  // Sequential, because each settles with the same account.
  for (const { id } of live)
    stopped.push(toImageDeployment(ctx.config, await terminateDeployment(ctx, { podId: id, kinds })));
  return { stopped };
}

import type { ImageDeploymentKind, imageCalls } from '@bakehouse/contract/deployments/images';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { toImageDeployment } from '../kinds/to-image-deployment.ts';
import { listDeployments } from '../list-deployments.ts';

/** How long the list shows deployments that ended without their owner's request, with the reason. */
const ENDED_SHOWN_MS = 24 * 60 * 60 * 1000;

/** Returns the caller's deployments of some kinds, newest first. */
export async function listImageDeployments(
  ctx: Context,
  {
    kinds,
    query,
  }: { kinds: readonly ImageDeploymentKind[]; query: InputOf<typeof imageCalls.flux.list>['query'] },
): Promise<ResponseOf<typeof imageCalls.flux.list>> {
  const { only_running: usable, include_terminated: includeTerminated, ...rest } = query;
  const endedSince = new Date(ctx.clock.now().getTime() - ENDED_SHOWN_MS);
  const page = await listDeployments(ctx, { kinds, usable, includeTerminated, endedSince, ...rest });
  return {
    deployments: page.deployments.map((view) => toImageDeployment(ctx.config, view)),
    next_cursor: page.nextCursor,
  };
}

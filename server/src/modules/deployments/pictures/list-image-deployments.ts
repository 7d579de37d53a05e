import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { ImageDeployment, ImageDeploymentKind, listFlux } from '@bakehouse/contract/image-deployments';
import type { Context } from '../../../platform/context.ts';
import { toImageDeployment } from '../kinds/to-image-deployment.ts';
import { listDeployments } from '../list-deployments.ts';

/** One that its owner did not end says why it has ended for so long. */
const ENDED_SHOWN_MS = 24 * 60 * 60 * 1000;

const usable: ImageDeployment['status'][] = ['running', 'READY'];

/** The caller's deployments of a kind, newest first; a page of those that can be used may have fewer than asked for. */
export async function listImageDeployments(
  ctx: Context,
  { kind, query }: { kind: ImageDeploymentKind; query: InputOf<typeof listFlux>['query'] },
): Promise<ResponseOf<typeof listFlux>> {
  const { only_running: onlyRunning, include_terminated: includeTerminated, search, limit, cursor } = query;
  const endedSince = new Date(ctx.clock.now().getTime() - ENDED_SHOWN_MS);
  const page = await listDeployments(ctx, { kind, includeTerminated, endedSince, search, limit, cursor });
  const deployments = page.deployments.map((view) => toImageDeployment(ctx.config, view));
  return {
    deployments: onlyRunning ? deployments.filter(({ status }) => usable.includes(status)) : deployments,
    next_cursor: page.nextCursor,
  };
}

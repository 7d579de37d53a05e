import type { DeploymentFilter } from '@bakehouse/contract/deployments/text';
import { recently } from '../../platform/clock.ts';
import type { Context } from '../../platform/context.ts';
import type { ListOrder } from '../../platform/db/list-orders.ts';
import { unknownCursor } from '../../platform/errors.ts';
import { findDeployment, selectDeployments } from './find-deployments.ts';
import type { KindName } from './kinds/kinds.ts';
import { type DeploymentView, viewDeployments } from './read-deployment.ts';

type Input = {
  /** Defaults to every kind. */
  kinds?: readonly KindName[] | undefined;
  /** Only deployments that can serve a request, possibly after they have woken up. */
  usable?: boolean | undefined;
  includeTerminated: boolean;
  /**
   * Applies if ended deployments are excluded: still includes deployments that have ended since this time,
   * unless their owner ended them.
   */
  endedSince?: Date | undefined;
  /** Only deployments that are live or have ended within the last hour. */
  recent?: boolean | undefined;
  status?: DeploymentFilter | undefined;
  search?: string | undefined;
  /** Only deployments of this model. */
  modelId?: string | undefined;
  sort?: ListOrder | undefined;
  /** The last deployment of the previous page. */
  cursor?: string | undefined;
  limit: number;
};

/** Returns the caller's deployments: newest first, or by title if requested. */
export async function listDeployments(
  ctx: Context,
  { modelId, recent, cursor, limit, ...wanted }: Input,
): Promise<{ deployments: DeploymentView[]; nextCursor: string | null }> {
  const { userId } = ctx.caller;
  if (cursor !== undefined) {
    const last = await findDeployment(ctx.db, { userId, podId: cursor });
    if (!last || (wanted.kinds && !wanted.kinds.some((kind) => kind === last.kind))) throw unknownCursor();
  }
  const found = await selectDeployments(ctx.db, {
    ...wanted,
    userId,
    assetId: modelId,
    recentSince: recent ? recently(ctx.clock.now()) : undefined,
    cursor,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit);
  return {
    deployments: await viewDeployments(ctx, rows),
    nextCursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}

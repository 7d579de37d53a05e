import type { DeploymentFilter } from '@bakehouse/contract/deployments/text';
import type { Context } from '../../platform/context.ts';
import type { ListOrder } from '../../platform/db/list-orders.ts';
import { recently } from '../../platform/recently.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findDeployment, selectDeployments } from './find-deployments.ts';
import type { KindName } from './kinds/kinds.ts';
import { type DeploymentView, viewDeployments } from './read-deployment.ts';

type Input = {
  /** Of every kind unless given. */
  kinds?: readonly KindName[] | undefined;
  /** Those alone that answer, or wake to. */
  usable?: boolean | undefined;
  includeTerminated: boolean;
  /** Without the ended ones those all the same that have ended since, though their owner did not end them. */
  endedSince?: Date | undefined;
  /** Those alone that have not ended, or have within the last hour. */
  recent?: boolean | undefined;
  status?: DeploymentFilter | undefined;
  search?: string | undefined;
  /** Only those that serve this model. */
  modelId?: string | undefined;
  sort?: ListOrder | undefined;
  /** The last one of the page before. */
  cursor?: string | undefined;
  limit: number;
};

/** The caller's deployments, newest first unless sorted by title. */
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

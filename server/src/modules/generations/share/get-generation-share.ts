import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getGenerationShare as endpoint } from '@bakehouse/contract/generation-shares';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findGeneration } from '../find-generations.ts';
import { selectShare } from './share-queries.ts';
import { toShare } from './to-share.ts';

/** The link by which one of the caller's generations is shared; null where it is not. Throws AppError 'not_found'. */
export async function getGenerationShare(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  if (!(await findGeneration(ctx.db, { id, userId })))
    throw new AppError('not_found', { publicMessage: 'No generation has this id' });
  const share = await selectShare(ctx.db, { generationId: id, userId });
  return { share: share ? toShare(ctx.config, share) : null };
}

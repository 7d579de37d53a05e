import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { keepWithinQuota } from '../../assets/files/keep-within-quota.ts';
import { type InputPicture, insertInputPicture } from './picture-queries.ts';

/**
 * Step: assigns a stored picture to the caller for a later generation. `param` is the request field. Returns
 * its id. Throws AppError 'payload_too_large' beyond the user's quota.
 */
export async function keepPicture(
  tx: Transaction,
  { caller, clock, config }: Pick<Context, 'caller' | 'clock' | 'config'>,
  { picture, param }: { picture: InputPicture; param: string },
): Promise<string> {
  const { userId } = caller;
  await keepWithinQuota(tx, config, { userId, blob: picture, param });
  return insertInputPicture(tx, { userId, picture, createdAt: clock.now() });
}

import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { sumMirrored } from './queries.ts';

/** Throws AppError 'conflict' where so many more bytes are more than may be kept for everybody. */
export async function refuseFullMirror(
  { config, db }: Pick<Services, 'config' | 'db'>,
  bytes: number,
): Promise<void> {
  // Turned off meanwhile, what was begun is ended.
  if (!config.hubMirror) return;
  const left = Math.max(0, config.hubMirror.bytesMax - (await sumMirrored(db)));
  if (bytes <= left) return;
  const [needed, limit] = [bytes, config.hubMirror.bytesMax].map((one) => formatBytes(one));
  throw new AppError('conflict', {
    publicMessage:
      `It needs ${needed}, and ${formatBytes(left)} of the ${limit} for copies of the public hub are left. ` +
      'An operator can delete some, or set BAKEHOUSE_HUB_MIRROR_GB higher',
  });
}

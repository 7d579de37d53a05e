import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { linkFile as endpoint } from '@bakehouse/contract/file-links';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { watchForDamage } from '../../../../platform/storage/watch-for-damage.ts';
import { countDownload } from '../../downloads/count-download.ts';
import { contentTypeOf } from '../content-type.ts';
import { findFile } from '../find-file.ts';
import { linkBlob } from './link-blob.ts';

/**
 * Returns a link to the current bytes of a file that the caller may read. Anyone can use it for at least an
 * hour, while the file exists and the caller may read it. Throws AppError 'not_found', and 'conflict' if the
 * bytes are known to be damaged, because a browser could not report that.
 */
export async function linkFile(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const { disposition, path } = input;
  const file = await findFile(ctx, { assetId: input.assetId, revisionId: input.revision_id, path });
  const { canBeInline } = contentTypeOf(path);
  if (disposition === 'inline' && !canBeInline) {
    throw new AppError('invalid_request', {
      publicMessage: `${path} can be downloaded, but not shown: only pictures, videos and sounds can be shown`,
      param: 'disposition',
    });
  }
  if (disposition === 'attachment') countDownload(ctx, input.assetId);
  await watchForDamage(ctx, { sha256: file.sha256, path });
  const { url, expiresAt } = await linkBlob(ctx, {
    ...{ sha256: file.sha256, path, disposition },
    ...{ user: ctx.caller.userId, asset: input.assetId, revision: input.revision_id },
  });
  return { url, expires_at: expiresAt.toISOString() };
}

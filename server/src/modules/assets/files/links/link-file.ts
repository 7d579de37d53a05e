import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { type linkFile as endpoint, openFileLink } from '@bakehouse/contract/file-links';
import type { Context } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import { watchForDamage } from '../../../../platform/storage/watch-for-damage.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { contentDisposition } from '../content-disposition.ts';
import { contentTypeOf } from '../content-type.ts';
import { findFile } from '../find-file.ts';
import { signLink } from './sign-link.ts';

/** Long enough to resume a large download, and to see a film to its end. */
const LIFE_S = 60 * 60;
/** All links that are made within so long are the same, so that a browser shows its copy of a picture again. */
const STEP_S = 10 * 60;

/**
 * A link to the bytes that a file has now, for whoever may read it now. It opens for an hour at least,
 * also for those to whom it is given. Throws AppError('not_found'), and 'conflict' where the bytes are
 * known to be damaged: a browser could not say so.
 */
export async function linkFile(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const { disposition, path } = input;
  const file = await findFile(ctx, { assetId: input.assetId, revisionId: input.revision_id, path });
  const { contentType, canBeShown } = contentTypeOf(path);
  if (disposition === 'inline' && !canBeShown) {
    throw new AppError('invalid_request', {
      publicMessage: `${path} can be downloaded, but not shown: only pictures, films and sounds can be shown`,
      param: 'disposition',
    });
  }
  await watchForDamage(ctx, { sha256: file.sha256, path });
  const expires = Math.ceil((ctx.clock.now().getTime() / 1000 + LIFE_S) / STEP_S) * STEP_S;
  const expiresAt = new Date(expires * 1000);
  const elsewhere = await ctx.blobs.presign(file.sha256, {
    contentType,
    contentDisposition: contentDisposition(disposition, path),
    expiresAt,
  });
  const name = path.split('/').at(-1) ?? path;
  const signature = signLink(serverSecret(ctx.config), { sha256: file.sha256, name, disposition, expires });
  const own = endpointUrl(
    openFileLink.path,
    { sha256: file.sha256, '*': name },
    { disposition, expires, signature },
  );
  return { url: elsewhere ?? own, expires_at: expiresAt.toISOString() };
}

import type { downloadFile as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../platform/context.ts';
import type { Http } from '../../../../platform/http/bind.ts';
import { linkFile } from './link-file.ts';

/**
 * Returns a link to a file instead of its bytes. The original product's Python client, recognised by the
 * header `bagel_source`, expects JSON here.
 */
export async function sendLink(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
  { reply }: Http,
): Promise<void> {
  const link = await linkFile(ctx, {
    assetId: params.id,
    path: params['*'],
    disposition: 'attachment',
    ...query,
  });
  await reply.send({ ...link, url: new URL(link.url, ctx.config.publicUrl).href });
}

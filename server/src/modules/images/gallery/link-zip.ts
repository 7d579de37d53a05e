import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { type linkZip as endpoint, openZipLink } from '@bakehouse/contract/gallery';
import type { Context } from '../../../platform/context.ts';
import { listPictures } from './list-pictures.ts';
import { packIds, signZip } from './sign-zip.ts';

/** As long as a link to a file. */
const LIFE_S = 60 * 60;

/**
 * Returns a public link to the pictures of these generations as one zip. Throws the errors of `listPictures`.
 */
export async function linkZip(
  ctx: Context,
  { ids }: InputOf<typeof endpoint>['body'],
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  await listPictures(ctx.db, { ids, userId });
  const expires = Math.floor(ctx.clock.now().getTime() / 1000) + LIFE_S;
  const claims = { userId, ids: packIds(ids), expires };
  const query = { ...claims, signature: signZip(ctx.config, claims) };
  return {
    url: endpointUrl(openZipLink.path, {}, query),
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

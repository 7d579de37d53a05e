import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXetWriteToken as endpoint } from '@bakehouse/contract/hub/xet';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { readKey } from '../../../platform/http/callers/find-caller.ts';
import { openOwnBranch } from '../commits/open-own-branch.ts';
import { hubUrl } from '../next-page.ts';

/** After so long a client asks again. */
const LIFE_S = 60 * 60;

/**
 * Says where the caller may send a repository's files, with the key that they have called with. What a client knows to be
 * there it keeps by the address: a new one each day lets go of what was sent before. Throws HubError.
 */
export async function startUpload(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  await openOwnBranch(ctx, { ...params, ...query });
  const now = ctx.clock.now();
  return {
    accessToken: readKey(http.request) ?? '',
    exp: Math.floor(now.getTime() / 1000) + LIFE_S,
    casUrl: `${hubUrl(http)}/xet/${now.toISOString().slice(0, 10)}`,
  };
}

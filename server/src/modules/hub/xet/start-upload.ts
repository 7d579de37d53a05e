import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXetWriteToken as endpoint } from '@bakehouse/contract/hub/xet';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { readKey } from '../../../platform/http/callers/find-caller.ts';
import { openOwnBranch } from '../commits/open-own-branch.ts';
import { hubUrl } from '../next-page.ts';

/** Validity; clients request a new upload afterwards. */
const LIFE_S = 60 * 60;

/**
 * Returns the upload URL for a repository's files, with the caller's key. Clients cache known chunks per URL:
 * a new URL each day invalidates that cache. Throws HubError.
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

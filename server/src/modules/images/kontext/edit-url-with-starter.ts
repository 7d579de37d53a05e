import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { editUrlWithStarter as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { fetchPicture } from '../pictures/fetch-picture.ts';
import { editPicture } from './edit-picture.ts';
import { requireStarter } from './require-starter.ts';

const PARAM = 'image_url';

/** Edits the picture at an address and waits for what comes of it. Throws what `fetchPicture` and `editPicture` throw. */
export async function editUrlWithStarter(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  await requireStarter(ctx, params.model);
  const picture = await fetchPicture(ctx, body.image_url, PARAM);
  return editPicture(ctx, { ...body, picture, param: PARAM }, http);
}

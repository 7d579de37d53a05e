import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { editUrlWithDeployment as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { fetchPicture } from '../pictures/fetch-picture.ts';
import { editPicture } from './edit-picture.ts';
import { requireEditor } from './require-editor.ts';

const PARAM = 'image_url';

/**
 * Edits the picture at an address with a deployment, which it wakes. Throws what `requireEditor`, `fetchPicture` and
 * `editPicture` throw.
 */
export async function editUrlWithDeployment(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const model = await requireEditor(ctx, params.podId);
  const picture = await fetchPicture(ctx, body.image_url, PARAM);
  return editPicture(ctx, { ...body, picture, param: PARAM, model }, http);
}

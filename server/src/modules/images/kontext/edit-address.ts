import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { editUrlWithStarter as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { fetchPicture } from '../pictures/fetch-picture.ts';
import { editPicture } from './edit-picture.ts';
import { readEdit } from './read-edit.ts';

const PARAM = 'image_url';

type Asked = { model: string; body: InputOf<typeof endpoint>['body'] };

/**
 * Edits the picture at an address with the model of that name, and waits for what comes of it. Throws what `readEdit`,
 * `fetchPicture` and `editPicture` throw.
 */
export async function editAddress(
  ctx: Context,
  usage: IdleCredit,
  { model, body }: Asked,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const edit = readEdit(ctx, body);
  const picture = await fetchPicture(ctx, body.image_url, PARAM);
  // The body stays until the answer, and most of it is this.
  body.image_url = '';
  http.request.leaveBodyRoom();
  return editPicture(ctx, usage, { ...edit, model, picture, param: PARAM }, http);
}

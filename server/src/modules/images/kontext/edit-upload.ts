import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { editFields, type editWithStarter as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { receivePicture } from '../pictures/receive-picture.ts';
import { storePicture } from '../pictures/store-picture.ts';
import { editPicture } from './edit-picture.ts';
import { readEdit } from './read-edit.ts';

const PART = 'file';

/**
 * Edits the picture of a form with the model of that name, and waits for what comes of it. Throws what `receivePicture`,
 * `readEdit`, `storePicture` and `editPicture` throw.
 */
export async function editUpload(
  ctx: Context,
  usage: IdleCredit,
  model: string,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const asked = await receivePicture(ctx, http.request, PART, async ({ bytes, fields }) => {
    const edit = readEdit(ctx, parseFields(editFields, fields));
    return { ...edit, picture: await storePicture(ctx, bytes, PART) };
  });
  return editPicture(ctx, usage, { ...asked, model, param: PART }, http);
}

import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { editFields, type editWithStarter as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import { receivePicture } from '../pictures/receive-picture.ts';
import { storePicture } from '../pictures/store-picture.ts';
import { editPicture } from './edit-picture.ts';

/**
 * Edits the picture of a form with the model of that name, and waits for what comes of it. Throws what `receivePicture`,
 * `storePicture` and `editPicture` throw.
 */
export async function editUpload(
  ctx: Context,
  model: string,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { bytes, fields } = await receivePicture(ctx, http.request, 'file');
  const asked = parseFields(editFields, fields);
  const takePicture = () => storePicture(ctx, bytes, 'file');
  return editPicture(ctx, { ...asked, model, takePicture, param: 'file' }, http);
}

import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { editFields, type editWithDeployment as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import { receivePicture } from '../pictures/receive-picture.ts';
import { editPicture } from './edit-picture.ts';
import { requireEditor } from './require-editor.ts';

/**
 * Edits the picture of a form with a deployment, which it wakes. Throws what `requireEditor`, `receivePicture` and
 * `editPicture` throw.
 */
export async function editWithDeployment(
  ctx: Context,
  { podId }: { podId: string },
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const model = await requireEditor(ctx, podId);
  const { picture, fields } = await receivePicture(ctx, http.request, 'file');
  return editPicture(ctx, { ...parseFields(editFields, fields), picture, param: 'file', model }, http);
}

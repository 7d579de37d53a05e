import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  editFields,
  type editWithDeployment,
  type editWithStarter as endpoint,
} from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { sentPicture } from '../../generations/sources/sent-picture.ts';
import { storePicture } from '../../generations/sources/store-picture.ts';
import { receivePicture } from '../../media/receive-picture.ts';
import { answerEdit } from './answer-edit.ts';
import { findEditor } from './find-editor.ts';
import { readEdit } from './read-edit.ts';
import { startEdit } from './start-edit.ts';

const PART = 'file';

type Input = InputOf<typeof endpoint> | InputOf<typeof editWithDeployment>;

/**
 * Edits the picture of a form and waits for the result. Throws the errors of `findEditor`, `receivePicture`,
 * `readEdit`, `storePicture`, `startEdit` and `answerEdit`.
 */
export async function editUpload(
  ctx: Context,
  usage: IdleCredit,
  { params: editor }: Input,
  { request, reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  // Check before receiving the file; with a key, the call may be a retry whose response must not depend on
  // the deployment.
  if (ctx.idempotencyKey === null) await findEditor(ctx, editor);
  const started = await receivePicture(ctx, request, PART, async ({ bytes, fields }) => {
    const edit = readEdit(ctx, parseFields(editFields, fields));
    const picture = sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
    return { id: await startEdit(ctx, usage, { editor, edit, picture }), edit };
  });
  return answerEdit(ctx, started, reply);
}

import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  editFields,
  type editUrlWithDeployment,
  type editUrlWithStarter as editUrlWithStarterEndpoint,
  type editWithDeployment,
  type editWithStarter as editWithStarterEndpoint,
} from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import { clientSignal } from '../../../platform/http/connection.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { storePicture } from '../../generations/sources/pictures.ts';
import { fetchPicture, type SentPicture, sentPicture } from '../../generations/sources/sources.ts';
import { startGeneration } from '../../generations/start/start-generation.ts';
import { receivePicture } from '../../media/receive-picture.ts';
import { answerEdit, type Editor, findEditor } from './kontext-images.ts';
import { type Edit, readEdit } from './read-edit.ts';

const PARAM = 'image_url';
const PART = 'file';

type Input = InputOf<typeof editUrlWithStarterEndpoint> | InputOf<typeof editUrlWithDeployment>;

/**
 * Edits the picture at an address and waits for the result. Throws the errors of `readEdit`, `fetchPicture`,
 * `startEdit` and `answerEdit`.
 */
export async function editAddress(
  ctx: Context,
  usage: IdleCredit,
  input: Input,
  { request, reply }: Http,
): Promise<ResponseOf<typeof editUrlWithStarterEndpoint>> {
  const started = await start(ctx, usage, input, clientSignal(reply));
  // The address may contain the picture; release its memory while waiting for the edit.
  request.leaveBodyRoom();
  return answerEdit(ctx, started, reply);
}

async function start(
  ctx: Context,
  usage: IdleCredit,
  { params: editor, body }: Input,
  signal: AbortSignal,
): Promise<{ id: string; edit: Edit }> {
  const { image_url: address } = body;
  const edit = readEdit(ctx, body);
  const picture = sentPicture(ctx, address, PARAM, () =>
    fetchPicture(ctx, address, { param: PARAM, signal }),
  );
  return { id: await startEdit(ctx, usage, { editor, edit, picture }), edit };
}

type EditUploadInput = InputOf<typeof editWithStarterEndpoint> | InputOf<typeof editWithDeployment>;

/**
 * Edits the picture of a form and waits for the result. Throws the errors of `findEditor`, `receivePicture`,
 * `readEdit`, `storePicture`, `startEdit` and `answerEdit`.
 */
export async function editUpload(
  ctx: Context,
  usage: IdleCredit,
  { params: editor }: EditUploadInput,
  { request, reply }: Http,
): Promise<ResponseOf<typeof editWithStarterEndpoint>> {
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

type Asked = { editor: Editor; edit: Edit; picture: SentPicture };

/**
 * Starts an edit of a picture for the original product's call. Returns the generation's id. Throws the errors
 * of `findEditor`, reading the picture and `startGeneration`.
 */
async function startEdit(
  ctx: Context,
  usage: IdleCredit,
  { editor, edit: { prompt, parameters }, picture }: Asked,
): Promise<string> {
  const { id } = await startGeneration(ctx, usage, {
    sent: { editor, prompt, parameters, picture: picture.sha256 },
    read: async () => {
      const model = await findEditor(ctx, editor);
      return { generator: 'flux-kontext', model, prompt, parameters, source: await picture.read() };
    },
  });
  return id;
}

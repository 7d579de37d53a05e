import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { editUrlWithDeployment, editUrlWithStarter as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { fetchPicture } from '../../generations/sources/fetch-picture.ts';
import { sentPicture } from '../../generations/sources/sent-picture.ts';
import { answerEdit } from './answer-edit.ts';
import { type Edit, readEdit } from './read-edit.ts';
import { startEdit } from './start-edit.ts';

const PARAM = 'image_url';

type Input = InputOf<typeof endpoint> | InputOf<typeof editUrlWithDeployment>;

/**
 * Edits the picture at an address and waits for the result. Throws the errors of `readEdit`, `fetchPicture`,
 * `startEdit` and `answerEdit`.
 */
export async function editAddress(
  ctx: Context,
  usage: IdleCredit,
  input: Input,
  { request, reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
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

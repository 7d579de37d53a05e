import type { Context } from '../../../platform/context.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import type { SentPicture } from '../../generations/sources/sent-picture.ts';
import { startGeneration } from '../../generations/start/start-generation.ts';
import { type Editor, findEditor } from './find-editor.ts';
import type { Edit } from './read-edit.ts';

type Asked = { editor: Editor; edit: Edit; picture: SentPicture };

/**
 * Starts an edit of a picture for the original product's call. Returns the generation's id. Throws the errors
 * of `findEditor`, reading the picture and `startGeneration`.
 */
export async function startEdit(
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

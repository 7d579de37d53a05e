import { buffer } from 'node:stream/consumers';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import { generators } from '@bakehouse/contract/generators/table';
import type { editFields, editWithStarter } from '@bakehouse/contract/kontext';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { drawingSeconds } from '../drawing-seconds.ts';
import type { InputPicture } from '../pictures/picture-queries.ts';
import { findOutputs } from '../queries.ts';
import { readParameters } from '../start/read-parameters.ts';
import { startAndAwait } from '../start/start-and-await.ts';

type Asked = z.output<typeof editFields> & {
  model: string;
  /** Stores the picture: called once all else fits. */
  takePicture: () => Promise<InputPicture>;
  /** The field that it came in. */
  param: string;
};

/**
 * Edits a picture and answers as the original product does. Throws AppError 'forbidden' for another's user id, and what
 * `startAndAwait` throws.
 */
export async function editPicture(
  ctx: Context,
  { model, takePicture, param, ...asked }: Asked,
  { reply }: Http,
): Promise<ResponseOf<typeof editWithStarter>> {
  const { prompt, user_id: userId, guidance_scale, num_inference_steps, seed } = asked;
  // A form's parts are read here: the server has not seen them.
  if (userId !== undefined && userId !== ctx.caller.userId)
    throw new AppError('forbidden', { publicMessage: 'This belongs to another user', param: 'user_id' });
  const chosen = Object.entries({ guidance_scale, num_inference_steps, seed });
  const given = Object.fromEntries(
    chosen.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const parameters = readParameters(generators['flux-kontext'], given, { prefix: '' });
  const source = { picture: await takePicture(), param, generationId: null, rootId: null };
  const generation = await startAndAwait(
    ctx,
    { generator: 'flux-kontext', model, prompt, parameters, source },
    reply,
  );
  return toEdited(ctx, generation, asked);
}

async function toEdited(
  ctx: Context,
  generation: Generation,
  asked: Pick<Asked, 'return_format' | 'skip_integrity_check'>,
): Promise<ResponseOf<typeof editWithStarter>> {
  const { id, parameters, seed, outputs } = generation;
  const [output] = outputs;
  if (!output) throw new Error(`The edit ${id} is completed and has no picture`);
  const inline = asked.return_format === 'base64';
  // A whole read compares the bytes with their hash.
  const bytes = inline || !asked.skip_integrity_check ? await readOutput(ctx, id) : null;
  return {
    image_url:
      inline && bytes
        ? `data:${output.media_type};base64,${bytes.toString('base64')}`
        : new URL(output.url, ctx.config.publicUrl).href,
    image_id: id,
    guidance_scale: Number(parameters.guidance_scale),
    num_inference_steps: Number(parameters.num_inference_steps),
    seed: Number(seed),
    inference_time: drawingSeconds(generation) ?? 0,
    integrity_checked: bytes !== null,
  };
}

async function readOutput(ctx: Context, id: string): Promise<Buffer> {
  const stored = (await findOutputs(ctx.db, [id])).get(id)?.[0];
  if (!stored) throw new AppError('not_found', { publicMessage: 'The picture was deleted' });
  return buffer(await readBlob(ctx, { sha256: stored.sha256, path: `edit ${id}` }));
}

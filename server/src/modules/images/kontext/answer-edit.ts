import { buffer } from 'node:stream/consumers';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { editWithStarter } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { generationSeconds } from '../../generations/generation-seconds.ts';
import { readOutputs } from '../../generations/read-outputs.ts';
import { awaitCompleted } from '../../generations/start/await-completed.ts';
import type { Edit } from './read-edit.ts';

/**
 * Waits for an edit and returns it in the original product's format. Throws the errors of `awaitCompleted`.
 */
export async function answerEdit(
  ctx: Context,
  { id, edit }: { id: string; edit: Edit },
  reply: Http['reply'],
): Promise<ResponseOf<typeof editWithStarter>> {
  return toEdited(ctx, await awaitCompleted(ctx, { id }, reply), edit);
}

async function toEdited(
  ctx: Context,
  generation: Generation,
  asked: Pick<Edit, 'return_format' | 'skip_integrity_check'>,
): Promise<ResponseOf<typeof editWithStarter>> {
  const { id, parameters, seed, outputs } = generation;
  const [output] = outputs;
  if (!output) throw new Error(`Completed edit ${id} has no picture`);
  const inline = asked.return_format === 'base64';
  // Reading the whole file verifies its hash.
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
    inference_time: generationSeconds(generation) ?? 0,
    integrity_checked: bytes !== null,
  };
}

async function readOutput(ctx: Context, id: string): Promise<Buffer> {
  const [bytes] = await readOutputs(ctx, id);
  if (!bytes) throw new AppError('not_found', { publicMessage: 'The picture was deleted' });
  return buffer(bytes);
}

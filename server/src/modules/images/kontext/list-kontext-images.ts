import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';
import type { listKontextImages as endpoint } from '@bakehouse/contract/kontext';
import type { Context } from '../../../platform/context.ts';
import { listGenerations } from '../../generations/list-generations.ts';

type KontextImage = ResponseOf<typeof endpoint>['images'][number];

const SHOWN = 100;
const MB = 1024 * 1024;

/** Returns the caller's last edits, newest first, including running ones. */
export async function listKontextImages(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  const { generations } = await listGenerations(ctx, { generator: 'flux-kontext', limit: SHOWN });
  return { images: generations.map(toKontextImage) };
}

function toKontextImage(generation: Generation): KontextImage {
  const { id, prompt, parameters, state, outputs } = generation;
  const [output] = outputs;
  return {
    ...{ id, image_id: id, prompt, edit_description: prompt, parameters },
    status: state === 'queued' || state === 'starting' || state === 'running' ? 'processing' : state,
    created_at: generation.created_at,
    image_url: output?.url ?? null,
    download_url: output?.download_url ?? null,
    s3_image_url: output && !output.url.startsWith('/') ? output.url : null,
    guidance_scale: numberOrNull(parameters.guidance_scale),
    num_inference_steps: numberOrNull(parameters.num_inference_steps),
    seed: generation.seed,
    model: generation.model,
    error: state === 'failed' ? generation.reason : null,
    file_size_mb: output ? Number((output.size_bytes / MB).toFixed(3)) : null,
  };
}

/** A service may support only some of these parameters. */
function numberOrNull(value: GenerationParameters[string] | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

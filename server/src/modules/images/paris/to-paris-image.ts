import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { listParisImages } from '@bakehouse/contract/paris';
import { generationSeconds } from '../../generations/generations.ts';

type ParisImage = ResponseOf<typeof listParisImages>['images'][number];

/** Returns the pictures of a generation in the format of the Paris page. */
export function toParisImages(generation: Generation): ParisImage[] {
  const { parameters } = generation;
  return generation.outputs.map(({ id, url, width, height }) => ({
    ...{ id, url, width, height },
    b64_json: null,
    revised_prompt: null,
    cfg_scale: Number(parameters.cfg_scale),
    num_inference_steps: Number(parameters.num_inference_steps),
    sampling_strategy: parameters.sampling_strategy as ParisImage['sampling_strategy'],
    k: Number(parameters.k),
    seed: Number(generation.seed),
    output_format: parameters.output_format as ParisImage['output_format'],
    expert_used: generation.expert_used,
    routing_confidence: generation.routing_confidence,
    generation_time: generationSeconds(generation),
    model: generation.model,
    generation_id: generation.id,
    s3_url: url.startsWith('/') ? null : url,
    prompt: generation.prompt,
    created_at: generation.created_at,
  }));
}

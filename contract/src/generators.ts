import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { bgl } from './money.ts';

/** Generators that users can choose, by page name; `generators/table.ts` defines their forms. */
export const generatorNames = [
  'flux',
  'flux-kontext',
  'recraft',
  'ideogram',
  'imagen',
  'stable-diffusion',
  'seedream',
  'hidream',
  'qwen-image',
  'janus',
  'minimax-image',
  'paris',
  'veo',
  'kling',
  'hailuo',
  'wan',
  'seedance',
] as const;
export type GeneratorName = (typeof generatorNames)[number];

/** Generators of videos. */
export const videoGenerators = [
  'veo',
  'kling',
  'hailuo',
  'wan',
  'seedance',
] as const satisfies GeneratorName[];
export type VideoGenerator = (typeof videoGenerators)[number];

/** True if the generator makes videos. */
export function makesVideos(name: GeneratorName): name is VideoGenerator {
  return videoGenerators.some((one) => one === name);
}

/** Maximum pictures of one generation, if its generator supports several. */
export const PICTURES_MAX = 4;

/** Minimum strength of a change: with less noise at the start, nothing would change. */
export const STRENGTH_MIN = 0.1;

/** Maximum LoRA strength, the factor for its weights. */
export const LORA_SCALE_MAX = 2;

/** Who generates: a model of this server or an external service. */
export const provider = z.enum(['own', 'upstream']);
export type Provider = z.infer<typeof provider>;

export const listGenerators = endpoint({
  method: 'GET',
  path: '/api/v1/generators',
  access: 'public',
  summary: 'List generators and who serves them',
  response: z.object({
    generators: z.array(
      z.object({
        name: z.enum(generatorNames),
        /** The first provider is the default. Empty if none is available. */
        served_by: z.array(provider),
        /** Title of the starter model that generates if no other provider does. Null if none is ready. */
        starter: z.string().nullable(),
        /** Whether a starter model for it is still being prepared. */
        is_being_prepared: z.boolean(),
        /** True if there is a service that supports it, even if that service is not connected. */
        is_connectable: z.boolean(),
        /** Connected services; the first is the default. A service receives the prompt. */
        upstreams: z.array(
          z.object({
            /** Name of the service, such as `fal`, for `service` in `POST /api/v1/generations`. */
            title: z.string(),
            /** Name of the model at the service. */
            model: z.string(),
            /** Form fields that the service supports. The form hides the others. */
            fields: z.array(z.string()),
            /** Price of one picture. */
            price: bgl,
          }),
        ),
        /** Base address for `/edit` and `/edit_url`. Null if no model of this server edits. */
        inference_url: z.string().nullable(),
      }),
    ),
  }),
});

import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { bgl } from './money.ts';

/** The generators that a person can pick, by the names that their pages have; `generators/table.ts` says what each asks for. */
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

/** Those of them that make videos. */
export const videoGenerators = [
  'veo',
  'kling',
  'hailuo',
  'wan',
  'seedance',
] as const satisfies GeneratorName[];
export type VideoGenerator = (typeof videoGenerators)[number];

/** Whether what it makes is a video. Pure. */
export function makesVideos(name: GeneratorName): name is VideoGenerator {
  return videoGenerators.some((one) => one === name);
}

/** Pictures that one generation makes at most, where its generator can make several. */
export const PICTURES_MAX = 4;

/** How strong a LoRA may be: what it adds to the model is taken times this. */
export const LORA_SCALE_MAX = 2;

/** Who generates: a model of this installation, or an external service. */
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
        /** Nobody while it is empty; the first unless a call names another. */
        served_by: z.array(provider),
        /** Whether a starter model is to serve it, which this server is still preparing. */
        is_being_prepared: z.boolean(),
        /** Whether there is a service that generates it, connected here or not. */
        is_connectable: z.boolean(),
        /** The services that generate, the first unless a call names another; the prompt is sent there. */
        upstreams: z.array(
          z.object({
            /** Its name, e.g. `fal`: `service` of `POST /api/v1/generations`. */
            title: z.string(),
            /** What the model is called there. */
            model: z.string(),
            /** Which of the form's fields it takes, by name: the others are not asked for. */
            fields: z.array(z.string()),
            /** What one picture costs. */
            price: bgl,
          }),
        ),
        /** Where `/edit` and `/edit_url` answer; null where no model of this installation edits for it. */
        inference_url: z.string().nullable(),
      }),
    ),
  }),
});

import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { modelName } from './fields/model-name.ts';
import { only } from './fields/only.ts';
import { generatorNames, provider } from './generators.ts';
import { bgl, bglInput } from './money.ts';

export const generationStates = [
  'queued',
  'starting',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const;
export type GenerationState = (typeof generationStates)[number];

/** Values of a generator's form by field name; `generators/table.ts` defines the fields. */
const parameters = z.record(
  z.string().max(50),
  z.union([z.string().max(4_000), z.number(), z.boolean(), z.null()]),
);
export type GenerationParameters = z.infer<typeof parameters>;

export const PROMPT_LENGTH_MAX = 4_000;
/** Multi-line text without control characters for terminals and devices. */
export const promptText = z
  .string()
  .trim()
  .min(1, 'Please enter a prompt')
  .max(PROMPT_LENGTH_MAX)
  // oxlint-disable-next-line no-control-regex -- these it looks for; JSON Schema's readers do not all know \p{Cc}
  .regex(/^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]*$/, 'must not contain control characters');
const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;

export const generationOutput = z.object({
  id: z.string(),
  /** Works without a key for a while; relative to this server, unless files are stored elsewhere. */
  url: z.string(),
  /** For lists: a copy of at most 512 px, or a video's first frame. The same as `url` if there is none. */
  thumbnail_url: z.string(),
  /** The same file as a download with its own name. */
  download_url: z.string(),
  media_type: z.string(),
  width: z.int(),
  height: z.int(),
  /** In seconds; null for a picture. */
  duration_s: z.number().nullable(),
  /** Number of frames of a video, and whether it has audio; null for a picture. */
  frames: z.int().nullable(),
  has_audio: z.boolean().nullable(),
  /** A strip of a video's frames, all of the same size. Null for a picture, or if the service has none. */
  strip_url: z.string().nullable(),
  size_bytes: z.number(),
});

/** The picture that was edited. */
export const generationSource = z.object({
  /** The generation that produced it; null if it was uploaded, or if that generation was deleted. */
  generation_id: z.string().nullable(),
  /** The output of that generation. */
  output_id: z.string().nullable(),
  url: z.string(),
  /** For lists: a copy of at most 512 px; the same as `url` if the picture is small. */
  thumbnail_url: z.string(),
  media_type: z.string(),
  width: z.int(),
  height: z.int(),
  /** The mask that limited the edit; null if the whole picture could change. */
  mask_url: z.string().nullable(),
});

export const namedRevision = z.object({
  asset_id: z.string(),
  revision_id: z.string(),
  number: z.int(),
  title: z.string(),
});

/** A requested picture or video. */
export const generation = z.object({
  id: z.string(),
  generator: z.enum(generatorNames),
  provider,
  /** The external service, e.g. `fal`; null for a model of this server. */
  service: z.string().nullable(),
  /** The model, e.g. `paris-ddm-v1.0`. */
  model: z.string(),
  /** Title of the generator, or of the starter model that generates in its place, e.g. `Wan starter`. */
  title: z.string(),
  /** The revision of the model. Null until the picture is generated, and if the model was deleted. */
  model_revision: namedRevision.nullable(),
  /** The LoRA's revision; null without one, or if it was deleted. */
  lora_revision: namedRevision.nullable(),
  prompt: z.string(),
  /** All parameters, including defaults. */
  parameters,
  /** Null if the model has no seed. */
  seed: z.number().nullable(),
  /** Null if generated from the prompt only. */
  source: generationSource.nullable(),
  /** The first generation in its chain of edits; its own id if it is not an edit. */
  root_id: z.string(),
  state: z.enum(generationStates),
  /** The reason for the wait or failure, in words. */
  reason: z.string(),
  /** True if the model rejected the input, such as a prompt that is too long. A retry would fail as well. */
  refused: z.boolean(),
  /** Number of generations ahead of it. Null once it is being generated. */
  position: z.int().nullable(),
  step: z.int(),
  /** 0 for a service, because services report no steps. */
  steps: z.int(),
  /** A preview as a `data:` URL; null if there is none, and once it is completed. */
  preview: z.string().nullable(),
  /** For Paris: the weights of the experts, one row per completed step. */
  expert_weights: z.array(z.array(z.number())).nullable(),
  /** For Paris: the expert that was used most, and the average of the router's highest probability. */
  expert_used: z.int().nullable(),
  routing_confidence: z.number().nullable(),
  /** While active, the maximum cost; once completed, the charged cost; otherwise 0. */
  cost: bgl,
  outputs: z.array(generationOutput),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
export type Generation = z.infer<typeof generation>;

const request = {
  generator: z.enum(generatorNames),
  /**
   * Omitted parameters have the defaults of the form. `lora` is the id of a FLUX LoRA, and `lora_scale` its
   * strength from 0 to 2. Only FLUX and Kontext models of this server support a LoRA.
   */
  parameters: parameters.default({}),
  /**
   * The `model_name` of a deployment of the caller in the generator's family, or of the generator's starter
   * model. Defaults to the generator's shared provider.
   */
  model: modelName.optional(),
  /** Instead of `model`: the service's `title` in `GET /api/v1/generators`. */
  service: z.string().min(1).max(200).optional(),
};

export const quoteGeneration = endpoint({
  method: 'POST',
  path: '/api/v1/generations/quote',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'Quote a generation',
  body: only(request),
  response: z.object({ cost: bgl }),
});

export const startGeneration = endpoint({
  method: 'POST',
  path: '/api/v1/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Start a generation in the background',
  body: only({
    ...request,
    prompt: promptText,
    /** The picture to edit, if the generator edits: the id of an upload (`POST /api/v1/pictures`) … */
    picture_id: idOf('picture').optional(),
    /** … or the output of an earlier generation. */
    source_generation_id: idOf('generation').optional(),
    /** The output's id. Defaults to the first. */
    source_output_id: idOf('picture').optional(),
    /**
     * The id of an uploaded mask, a PNG or WebP of the picture's size. Where it is transparent, the picture
     * changes; the rest keeps its pixels. Partial transparency mixes both.
     */
    mask_id: idOf('picture').optional(),
    /** The quoted cost in BGL: if the price is higher now, the call is refused with the new price. */
    cost_max: bglInput.optional(),
  }),
  status: 202,
  response: generation,
});

export const listGenerations = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/generations',
  access: 'key',
  summary: 'List generations, newest first',
  params: userIdParams,
  query: z.object({
    generator: z.enum(generatorNames).optional(),
    state: z.enum(generationStates).optional(),
    /** Only one chain of edits, by the id of its first generation. */
    root: idOf('generation').optional(),
    /** Text in the prompt, case-insensitive. */
    search: z.string().trim().max(200).optional(),
    /** Ids separated by commas. Deleted generations are omitted. */
    ids: z
      .string()
      .transform((ids) => ids.split(','))
      .pipe(z.array(idOf('generation')).max(PAGE_MAX, `ids can hold at most ${PAGE_MAX} ids`))
      .optional(),
    cursor: idOf('generation').optional(),
    limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  }),
  response: z.object({ generations: z.array(generation), next_cursor: z.string().nullable() }),
});

const generationParams = z.object({ id: idOf('generation') });

export const getGeneration = endpoint({
  method: 'GET',
  path: '/api/v1/generations/:id',
  access: 'key',
  summary: "Get a generation's progress and outputs",
  params: generationParams,
  response: generation,
});

export const cancelGeneration = endpoint({
  method: 'POST',
  path: '/api/v1/generations/:id/cancel',
  access: 'key',
  scopes: ['inference'],
  summary: 'Cancel a generation at no cost; 409 if an external service has already started it',
  params: generationParams,
  response: generation,
});

export const deleteGeneration = endpoint({
  method: 'DELETE',
  path: '/api/v1/generations/:id',
  access: 'key',
  scopes: ['inference'],
  summary: 'Delete a generation and its outputs, cancelling it if it is running',
  params: generationParams,
  status: 204,
});

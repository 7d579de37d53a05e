import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { flag } from './fields/flag.ts';
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

/** What a generator's form holds, by the names of its fields; `generators/table.ts` says which there are. */
const parameters = z.record(
  z.string().max(50),
  z.union([z.string().max(4_000), z.number(), z.boolean(), z.null()]),
);
export type GenerationParameters = z.infer<typeof parameters>;

export const PROMPT_LENGTH_MAX = 4_000;
/** Whatever people write, in several lines too, but no characters that steer terminals and devices. */
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
  /** Opens without a key for a while; relative to this server, unless its files are stored elsewhere. */
  url: z.string(),
  /** For lists: a copy of at most 512 px, or a video's first frame; the same as `url` where the picture is no larger, or there is none. */
  thumbnail_url: z.string(),
  /** The same as `url`, as a download under a name of its own. */
  download_url: z.string(),
  media_type: z.string(),
  width: z.int(),
  height: z.int(),
  /** In seconds; null for a picture. */
  duration_s: z.number().nullable(),
  /** How many frames a video has, and whether it has sound; null for a picture. */
  frames: z.int().nullable(),
  has_audio: z.boolean().nullable(),
  /** Frames of a video side by side, of one size each; null for a picture, and where a service sent none. */
  strip_url: z.string().nullable(),
  size_bytes: z.number(),
});

/** The picture that was edited. */
const source = z.object({
  /** The generation that made it; null where it was uploaded, or that generation was deleted. */
  generation_id: z.string().nullable(),
  /** Which of that generation's outputs it was. */
  output_id: z.string().nullable(),
  url: z.string(),
  /** For lists: a copy of at most 512 px, or the same as `url` where the picture is no larger. */
  thumbnail_url: z.string(),
  media_type: z.string(),
  width: z.int(),
  height: z.int(),
});

const namedRevision = z.object({
  asset_id: z.string(),
  revision_id: z.string(),
  number: z.int(),
  title: z.string(),
});

/** One picture or film that was asked for. */
const generation = z.object({
  id: z.string(),
  generator: z.enum(generatorNames),
  provider,
  /** The name of the external service, e.g. `fal`; null where a model of this installation generates. */
  service: z.string().nullable(),
  /** What generated it, e.g. `paris-ddm-v1.0`. */
  model: z.string(),
  /** The revision of the model that generated it; null until it is generated, and where the model was deleted. */
  model_revision: namedRevision.nullable(),
  /** The revision of the LoRA that was put on it; null where there is none, or it was deleted. */
  lora_revision: namedRevision.nullable(),
  prompt: z.string(),
  /** Every one, also those that nobody chose. */
  parameters,
  /** Null where the model takes none. */
  seed: z.number().nullable(),
  /** Null where it was made from the prompt alone. */
  source: source.nullable(),
  /** The first generation of its edit tree: its own id unless it was made from another one. */
  root_id: z.string(),
  state: z.enum(generationStates),
  /** Why it is in this state, in words: what it waits for, or what went wrong. */
  reason: z.string(),
  /** It has failed since the model refuses what was asked for, e.g. a prompt that is too long: asked again, it would again. */
  refused: z.boolean(),
  /** How many are generated before it; null once it is being generated. */
  position: z.int().nullable(),
  step: z.int(),
  /** 0 where a service generates, which tells of none. */
  steps: z.int(),
  /** Unfinished, as a `data:` URL; null where there is none, and once it is done. */
  preview: z.string().nullable(),
  /** Paris: the weight of each expert, a row for each step so far. */
  expert_weights: z.array(z.array(z.number())).nullable(),
  /** Paris: the expert that was used most, and the mean of the router's greatest probability. */
  expert_used: z.int().nullable(),
  routing_confidence: z.number().nullable(),
  /** What it costs at most while it is under way; what was charged once it is completed; else 0. */
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
   * Those that are left out have the default of the generator's form. `lora` is the id of a model that is a LoRA for FLUX, and
   * `lora_scale` how strong it is, 0 to 2: FLUX and Kontext models of this installation take one.
   */
  parameters: parameters.default({}),
  /**
   * The `model_name` of an image deployment of your own, for a generator of its family, or the starter that serves
   * the generator; who generates for all unless said.
   */
  model: modelName.optional(),
  /** Instead of `model`: the service that generates, by its `title` in `GET /api/v1/generators`. */
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
    /** The picture to edit, where the generator edits: one that was uploaded (`POST /api/v1/pictures`), or … */
    picture_id: idOf('picture').optional(),
    /** … what an earlier generation made. */
    source_generation_id: idOf('generation').optional(),
    /** Which of its pictures, by the id of the output: the first unless said. */
    source_output_id: idOf('picture').optional(),
    /** In BGL, as it was quoted: where the picture costs more by now, it is refused with the new price. */
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
    /** Only those that are under way, or ended within the last hour. */
    recent: flag.optional(),
    /** Those of one edit tree, by the id of its first generation. */
    root: idOf('generation').optional(),
    /** Part of the prompt, in any case. */
    search: z.string().trim().max(200).optional(),
    /** These alone: ids with commas between them. Those that are gone are left out. */
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

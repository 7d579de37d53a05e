import * as z from 'zod';
import { LORA_SCALE_MAX } from '../generators.ts';
import { inputFile, workloadSpecBase } from './workload-spec.ts';

/**
 * An image model server: one model, which generates several requests at once. Input folder: `model`.
 *
 * `POST /generate` (bearer `api_key`; body: `parisImageRequest`, `kontextImageRequest` or `wanFilmRequest`, as the engine is) answers with lines of JSON (`imageEvent`). The
 * line `done` is followed by the file, of as many bytes as it says, and by those `beside` it in their order, and the answer ends. A client that disconnects ends the work on it within a step. A request that cannot be generated is a 400,
 * also where its prompt is longer than the model reads, its picture cannot be decoded or its LoRA does not fit the model; too many at
 * once are a 503, as is a LoRA that cannot be brought here. Refusals are `{ error: { message, param } }`. `GET /health` answers
 * once the model is loaded.
 */
export const serveImageSpec = workloadSpecBase.extend({
  kind: z.literal('serve'),
  task: z.literal('image'),
  engine: z.enum(['paris', 'kontext', 'wan']),
  host: z.string(),
  /** 0 lets the system choose; the `ready` report tells which. */
  port: z.int().min(0).max(65535),
  /** What whoever asks has to show as a bearer token: the server answers nobody else. */
  api_key: z.string().min(1),
  /** Requests that are generated at once; the others wait. */
  parallel_requests: z.int().min(1),
  threads: z.int().min(1),
  /** 0 on the CPU. */
  gpus: z.int().min(0).default(0),
});

const requestBase = z.object({
  prompt: z.string(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  steps: z.int().min(1).max(1000),
  guidance: z.number(),
  /** A preview comes with every so many steps; 0: never. */
  preview_every: z.int().min(0),
  /**
   * Written into the file: a PNG text each, or one JSON object in EXIF's UserComment or an MP4's comment. Keys are up to 79 printable
   * ASCII characters; all of it is at most 65,000 bytes as such an object in ASCII.
   */
  metadata: z.record(z.string(), z.string()),
});

const format = z.enum(['png', 'jpeg', 'webp']);

export const parisImageRequest = requestBase.extend({
  format,
  strategy: z.enum(['top1', 'topk', 'full']),
  k: z.int().min(1),
});

/** A LoRA's file, which is brought here as an input of the workload (`GET …/inputs/:sha256`), though its spec does not name it. */
export const imageLora = inputFile.pick({ sha256: true, size_bytes: true }).extend({
  /** Of the revision that has the file. What is kept of it is found again by this: nobody else's request is faster for it. */
  id: z.string().min(1),
  /** What is added to the model times this; 0: nothing. */
  scale: z.number().min(0).max(LORA_SCALE_MAX),
});

export const kontextImageRequest = requestBase.extend({
  format,
  /** What is edited, a file in base64: PNG, JPEG or WebP, at most 20 MB and 40 megapixels. Null: generated from the prompt alone. */
  picture: z.string().nullable(),
  lora: imageLora.optional(),
});

/** An MP4 in H.264. Of length and size the model makes what comes nearest to what is asked, and `done` says what that was. */
export const wanFilmRequest = requestBase.extend({
  /** Empty: none. */
  negative_prompt: z.string(),
  /** The first frame, a file as `kontextImageRequest` has one. Null: from the prompt alone. */
  picture: z.string().nullable(),
  seconds: z.number().positive().max(60),
  width: z.int().min(16).max(4096),
  height: z.int().min(16).max(4096),
});

/** A picture that comes with a film: its first frame, or some of its frames in a row, all of one size. */
const besideFilm = z.object({
  role: z.enum(['poster', 'strip']),
  media_type: z.literal('image/webp'),
  size_bytes: z.int().min(1),
  width: z.int(),
  height: z.int(),
});

/** A line of the answer. */
export const imageEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('queued'), position: z.int() }),
  z.object({
    type: z.literal('step'),
    step: z.int(),
    /** Of each expert at this step; null for a model without. */
    expert_weights: z.array(z.number()).nullable(),
    /** A small JPEG of what it looks like so far, in base64. */
    preview: z.string().nullable(),
  }),
  z.object({
    type: z.literal('done'),
    media_type: z.enum(['image/png', 'image/jpeg', 'image/webp', 'video/mp4']),
    size_bytes: z.int().min(1),
    width: z.int(),
    height: z.int(),
    /** Null for a picture. */
    duration_s: z.number().nullable(),
    /** Null for a model without experts. */
    expert_used: z.int().nullable(),
    routing_confidence: z.number().nullable(),
    /** What comes with it, a poster and a strip with each film; each role once. */
    beside: z
      .array(besideFilm)
      .max(2)
      .refine((beside) => new Set(beside.map(({ role }) => role)).size === beside.length, 'each role once'),
  }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
export type ServeImageSpec = z.infer<typeof serveImageSpec>;
export type ImageEvent = z.infer<typeof imageEvent>;
export type ImageLora = z.infer<typeof imageLora>;
export type ParisImageRequest = z.infer<typeof parisImageRequest>;
export type KontextImageRequest = z.infer<typeof kontextImageRequest>;
export type ImageRequest = ParisImageRequest | KontextImageRequest | z.infer<typeof wanFilmRequest>;

import * as z from 'zod';
import { LORA_SCALE_MAX, STRENGTH_MIN } from '../generators.ts';
import { inputFile, workloadSpecBase } from './workload-spec.ts';

/**
 * An image model server: one model that generates several requests concurrently. Input folder: `model`.
 *
 * `POST /generate` (bearer `api_key`; body: `parisImageRequest`, `kontextImageRequest` or `wanVideoRequest`,
 * by engine) answers with lines of JSON (`imageEvent`). After the line `done` follow the bytes of the file,
 * whose size that line contains, and the files in `beside`, in order; then the answer ends. If the client
 * disconnects, the work ends within a step. A request that cannot be generated gets a 400, also if its prompt
 * exceeds the model's limit, its picture cannot be decoded or its LoRA does not fit the model. Too many
 * concurrent requests get a 503, as does a LoRA that cannot be downloaded. Errors are `{ error: { message,
 * param } }`. `GET /health` answers once the model is loaded.
 *
 * `POST /edit` does the same. Use it for requests with a mask, strength or negative prompt: servers that
 * started before an upgrade ignore these fields, but have no such path.
 */
export const serveImageSpec = workloadSpecBase.extend({
  kind: z.literal('serve'),
  task: z.literal('image'),
  engine: z.enum(['paris', 'kontext', 'wan']),
  host: z.string(),
  /** With 0, the system chooses the port, which the `ready` report contains. */
  port: z.int().min(0).max(65535),
  /** Bearer token that callers must send. */
  api_key: z.string().min(1),
  /** Number of requests that are generated concurrently. Others wait. */
  parallel_requests: z.int().min(1),
  threads: z.int().min(1),
  /** Number of GPUs; 0 for the CPU. */
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
  /** Number of steps between two previews; 0 for no previews. */
  preview_every: z.int().min(0),
  /**
   * Metadata to embed in the file: as PNG texts, or as one JSON object in EXIF's UserComment or in an MP4's
   * comment. A key has at most 79 printable ASCII characters. The JSON object has at most 65,000 bytes in
   * ASCII.
   */
  metadata: z.record(z.string(), z.string()),
});

const format = z.enum(['png', 'jpeg', 'webp']);

export const parisImageRequest = requestBase.extend({
  format,
  strategy: z.enum(['top1', 'topk', 'full']),
  k: z.int().min(1),
});

/**
 * File of a LoRA. The server downloads it like an input of the workload (`GET …/inputs/:sha256`), although
 * its spec does not contain it.
 */
export const imageLora = inputFile.pick({ sha256: true, size_bytes: true }).extend({
  /**
   * Id of the file's revision. The cache of LoRAs uses it as key, so that a request of one user is not faster
   * because of another user's.
   */
  id: z.string().min(1),
  /** Factor for the weights of the LoRA; 0 disables it. */
  scale: z.number().min(0).max(LORA_SCALE_MAX),
});

export const kontextImageRequest = requestBase.extend({
  format,
  /**
   * The file to edit in base64: PNG, JPEG or WebP, at most 20 MB and 40 megapixels. Null to generate from the
   * prompt only.
   */
  picture: z.string().nullable(),
  /**
   * A picture file of the same size in base64. Where it is transparent, the picture changes; where it is
   * opaque, the result has the picture's pixels.
   */
  mask: z.string().optional(),
  /** Share of noise at the start. Below 1, the result keeps more of the picture. */
  strength: z.number().min(STRENGTH_MIN).max(1).default(1),
  /** What the result should not show, for models with true guidance. Empty for none. */
  negative_prompt: z.string().default(''),
  lora: imageLora.optional(),
});

/** Generates an MP4 in H.264 with the nearest duration and size. `done` contains the actual ones. */
export const wanVideoRequest = requestBase.extend({
  /** Empty for none. */
  negative_prompt: z.string(),
  /** The first frame, a file as in `kontextImageRequest`. Null to generate from the prompt only. */
  picture: z.string().nullable(),
  seconds: z.number().positive().max(60),
  width: z.int().min(16).max(4096),
  height: z.int().min(16).max(4096),
});

/** A picture that accompanies a video: its first frame, or a strip of frames. */
const videoImage = z.object({
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
    /** Weight of each expert at this step; null for a model without experts. */
    expert_weights: z.array(z.number()).nullable(),
    /** A small JPEG preview in base64. */
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
    /** Accompanying pictures. A video has a poster and a strip, one of each. */
    beside: z
      .array(videoImage)
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
export type ImageRequest = ParisImageRequest | KontextImageRequest | z.infer<typeof wanVideoRequest>;

import * as z from 'zod';
import { LORA_SCALE_MAX } from '../generators.ts';
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
 */
export const serveImageSpec = workloadSpecBase.extend({
  kind: z.literal('serve'),
  task: z.literal('image'),
  engine: z.enum(['paris', 'kontext', 'wan']),
  host: z.string(),
  /** 0 lets the system choose; the `ready` report contains the port. */
  port: z.int().min(0).max(65535),
  /** Bearer token that requests must have. */
  api_key: z.string().min(1),
  /** Requests that are generated concurrently; others wait. */
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
  /** Steps between previews; 0 for none. */
  preview_every: z.int().min(0),
  /**
   * Embedded in the file: as PNG texts, or as one JSON object in EXIF's UserComment or an MP4's comment. Keys
   * are up to 79 printable ASCII characters; the whole is at most 65,000 bytes as such an object in ASCII.
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
 * A LoRA's file, downloaded as an input of the workload (`GET …/inputs/:sha256`) although its spec does not
 * list it.
 */
export const imageLora = inputFile.pick({ sha256: true, size_bytes: true }).extend({
  /**
   * Id of the file's revision. Key of the LoRA cache, so that one user's request does not speed up another
   * user's.
   */
  id: z.string().min(1),
  /** Factor for the LoRA's weights; 0 disables it. */
  scale: z.number().min(0).max(LORA_SCALE_MAX),
});

export const kontextImageRequest = requestBase.extend({
  format,
  /**
   * The file to edit in base64: PNG, JPEG or WebP, at most 20 MB and 40 megapixels. Null to generate from the
   * prompt only.
   */
  picture: z.string().nullable(),
  lora: imageLora.optional(),
});

/** Makes an MP4 in H.264 with the nearest supported duration and size, which `done` reports. */
export const wanVideoRequest = requestBase.extend({
  /** Empty for none. */
  negative_prompt: z.string(),
  /** The first frame, a file as in `kontextImageRequest`. Null to generate from the prompt only. */
  picture: z.string().nullable(),
  seconds: z.number().positive().max(60),
  width: z.int().min(16).max(4096),
  height: z.int().min(16).max(4096),
});

/** A picture that accompanies a video: its first frame, or a strip of its frames in one size. */
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
    /** Of each expert at this step; null for a model without experts. */
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
    /** Accompanying pictures: a poster and a strip for each video, each role once. */
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

import * as z from 'zod';

/** Counts changes of the specs that an older runtime would misread. A runtime refuses every other number. */
export const RUNTIME_PROTOCOL = 1;

/**
 * What every workload is told at start, as one JSON file: who it is, where the server is,
 * and which files it works on. The runtime pulls its inputs over HTTP, so that the same
 * program runs under every driver.
 */

export const inputFile = z.object({
  /** Path below the input's own folder, with forward slashes, e.g. `tokenizer.json`. */
  path: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size_bytes: z.int().nonnegative(),
});

export const workloadInput = z.object({
  /** The folder that the runtime makes for these files, e.g. `base_model`. */
  name: z.string().min(1),
  files: z.array(inputFile),
});

export const workloadServer = z.object({
  /** Origin of the Bakehouse server, e.g. `http://127.0.0.1:4080`. */
  base_url: z.string(),
  /** Bearer token that is good for this workload alone. */
  token: z.string().min(1),
});

/** What is read of a spec before anything else of it. */
export const specProtocol = z.object({ protocol: z.int() });

export const workloadSpecBase = z.object({
  protocol: z.literal(RUNTIME_PROTOCOL),
  workload_id: z.string().min(1),
  server: workloadServer,
  /** Folder that survives a restart of the workload, unless it is said that it does not: checkpoints and outputs live here. */
  work_dir: z.string().min(1),
  /** Whether the next attempt finds what is in work_dir; it does, unless said. */
  keeps_work_dir: z.boolean().optional(),
  /** What a model server has, where its place tells it to end by SIGTERM, for what it has begun; a few seconds unless said. */
  leave_seconds: z.int().min(1).optional(),
  /** Folder that `pull` fills with the inputs, before the work begins that may only read them. */
  inputs_dir: z.string().min(1),
  inputs: z.array(workloadInput),
});

export type InputFile = z.infer<typeof inputFile>;
export type WorkloadInput = z.infer<typeof workloadInput>;

import * as z from 'zod';

/** Increment it when an older runtime would misinterpret specs. A runtime rejects other versions. */
export const RUNTIME_PROTOCOL = 1;

/**
 * Start parameters of every workload, in one JSON file: its identity, the address of the server, and its
 * files. The runtime downloads inputs over HTTP, so the same program runs under every driver.
 */

export const inputFile = z.object({
  /** Path below the input's own folder, with forward slashes, e.g. `tokenizer.json`. */
  path: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size_bytes: z.int().nonnegative(),
});

export const workloadInput = z.object({
  /** The folder for these files, e.g. `base_model`. */
  name: z.string().min(1),
  files: z.array(inputFile),
});

export const workloadServer = z.object({
  /** Origin of the Bakehouse server, e.g. `http://127.0.0.1:4080`. */
  base_url: z.string(),
  /** Bearer token that is valid only for this workload. */
  token: z.string().min(1),
});

/** The common part of all specs, which is parsed first. */
export const specProtocol = z.object({ protocol: z.int() });

export const workloadSpecBase = z.object({
  protocol: z.literal(RUNTIME_PROTOCOL),
  workload_id: z.string().min(1),
  server: workloadServer,
  /**
   * Folder for checkpoints and outputs. The next attempt of the workload finds it again, unless
   * `keeps_work_dir` is false.
   */
  work_dir: z.string().min(1),
  /** Whether the next attempt finds the contents of work_dir. Defaults to true. */
  keeps_work_dir: z.boolean().optional(),
  /** How long a model server may take after SIGTERM to finish open requests. Defaults to a few seconds. */
  leave_seconds: z.int().min(1).optional(),
  /** Folder into which `pull` downloads the inputs. The work itself may only read it. */
  inputs_dir: z.string().min(1),
  inputs: z.array(workloadInput),
});

export type InputFile = z.infer<typeof inputFile>;
export type WorkloadInput = z.infer<typeof workloadInput>;

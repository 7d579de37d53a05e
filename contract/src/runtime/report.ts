import * as z from 'zod';
import { inputFile } from './workload-spec.ts';

/**
 * Reports of a workload to the server. They are numbered from 1 and idempotent by `seq`: a batch may be sent
 * again after a lost answer. After a restart the runtime continues from the last number that the server
 * accepted (see `reportsAnswer.accepted_seq`).
 */
const numbered = {
  seq: z.int().min(1),
  /** ISO 8601, UTC. */
  at: z.string(),
};

/** Maximum length of a held-out row's text or answer; longer ones are truncated. */
const heldOutText = z.string().max(2_100);

export const heldOutAnswer = z.object({
  /** The last question before the answer, or the beginning of a text. */
  question: heldOutText,
  /** Earlier turns of the conversation, which both models have read too. */
  earlier_turns: z.int().min(0),
  /** The answer in the row. */
  expected: heldOutText,
  base: heldOutText,
  tuned: heldOutText,
});

/** The base's and the tuned model's answers to held-out rows. */
export const heldOutAnswers = z.object({
  /** Whether questions are answered or texts continued. */
  task: z.enum(['answer', 'continue']),
  rows: z.array(heldOutAnswer).max(5),
  /** Why there are no rows, as one plain sentence; null if there are some. */
  skipped: z.string().max(500).nullable(),
  /** Questions to ask both models manually, if neither could be asked. */
  questions: z.array(heldOutText).max(5).optional(),
});

export const report = z.discriminatedUnion('type', [
  /** A named phase starts, e.g. `pulling inputs`, `loading model`, `training`, `evaluating`, `saving`. */
  z.object({
    ...numbered,
    type: z.literal('phase'),
    phase: z.string(),
    /** False if its time does not count as work and is free. */
    counted: z.boolean().optional(),
  }),
  z.object({
    ...numbered,
    type: z.literal('progress'),
    done: z.number(),
    total: z.number(),
    unit: z.enum(['steps', 'bytes', 'examples']),
    /** Estimated seconds until the phase ends; null while unknown. */
    remaining_seconds: z.number().nullable(),
  }),
  /** One point of the metrics, e.g. { loss, learning_rate, grad_norm, eval_loss, tokens_per_second }. */
  z.object({
    ...numbered,
    type: z.literal('metrics'),
    step: z.int(),
    values: z.record(z.string(), z.number()),
  }),
  z.object({ ...numbered, type: z.literal('log'), line: z.string() }),
  z.object({ ...numbered, type: z.literal('checkpoint'), step: z.int() }),
  z.object({ ...numbered, type: z.literal('held_out_answers'), ...heldOutAnswers.shape }),
  /**
   * Samples of a checkpoint: artefacts that are already stored, in the order of the spec's `sample_prompts`.
   */
  z.object({
    ...numbered,
    type: z.literal('samples'),
    step: z.int().min(0),
    pictures: z
      .array(z.object({ path: z.string().max(500), width: z.int().min(1), height: z.int().min(1) }))
      .max(8),
    /** The checkpoint's adapter as an artefact; absent before the first step. */
    adapter: z.string().max(500).optional(),
  }),
  /**
   * A model server received SIGTERM from its environment and finishes requests in flight within this time.
   */
  z.object({ ...numbered, type: z.literal('leaving'), within_seconds: z.int().min(1) }),
  /** A server accepts requests. */
  z.object({ ...numbered, type: z.literal('ready'), base_url: z.string() }),
  /** A text server has loaded an adapter of `reportsAnswer.adapters`, or could not: one sentence says why. */
  z.object({ ...numbered, type: z.literal('adapter'), name: z.string(), failure: z.string().nullable() }),
  /** A finite workload has uploaded its last artefact. `summary` is stored with the run. */
  z.object({
    ...numbered,
    type: z.literal('result'),
    files: z.array(z.object({ path: z.string(), sha256: z.string(), size_bytes: z.int() })),
    summary: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
  }),
  /** Stopped on request after saving its work; can be resumed. */
  z.object({ ...numbered, type: z.literal('stopped'), step: z.int() }),
  /** Failed permanently. `message` is one plain sentence for the user. */
  z.object({ ...numbered, type: z.literal('failed'), message: z.string() }),
]);

export const reportsBody = z.object({ reports: z.array(report).max(500) });

/**
 * `command: stop` asks the workload to save its work and end; the answer to every batch repeats it. A model
 * server first finishes requests in flight: for at most `drain_seconds`, or a few seconds by default.
 */
export const reportsAnswer = z.object({
  accepted_seq: z.int(),
  command: z.enum(['continue', 'stop']),
  drain_seconds: z.int().min(1).optional(),
  /** Adapters that a text server must load while it runs. */
  adapters: z.array(z.object({ name: z.string(), files: z.array(inputFile) })).optional(),
});

export type HeldOutAnswers = z.infer<typeof heldOutAnswers>;
export type ReportsAnswer = z.infer<typeof reportsAnswer>;
export type Report = z.infer<typeof report>;

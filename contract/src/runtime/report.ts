import * as z from 'zod';
import { inputFile } from './workload-spec.ts';

/**
 * Reports that a workload sends to the server. They are numbered from 1 by `seq`. If the answer to a batch is
 * lost, the batch may be sent again; the server skips reports that it already has. After a restart, the
 * runtime continues after the last number that the server accepted (see `reportsAnswer.accepted_seq`).
 */
const numbered = {
  seq: z.int().min(1),
  /** ISO 8601, UTC. */
  at: z.string(),
};

/** Maximum length of a held-out row's text or answer; longer ones are truncated. */
const heldOutText = z.string().max(2_100);

export const heldOutAnswer = z.object({
  /** The last question before the answer, or the beginning of the text. */
  question: heldOutText,
  /** Earlier turns of the conversation, which the models also read. */
  earlier_turns: z.int().min(0),
  /** The answer that the row contains. */
  expected: heldOutText,
  base: heldOutText,
  tuned: heldOutText,
});

/** Answers of the base and the tuned model to held-out rows. */
export const heldOutAnswers = z.object({
  /** Whether the models answered questions or continued texts. */
  task: z.enum(['answer', 'continue']),
  rows: z.array(heldOutAnswer).max(5),
  /** Why there are no rows, as one plain sentence; null if there are some. */
  skipped: z.string().max(500).nullable(),
  /** Questions that the user can ask both models, if no held-out row could be used. */
  questions: z.array(heldOutText).max(5).optional(),
});

export const report = z.discriminatedUnion('type', [
  /** A phase has started, such as `pulling inputs`, `loading model`, `training`, `evaluating` or `saving`. */
  z.object({
    ...numbered,
    type: z.literal('phase'),
    phase: z.string(),
    /** False if the time in this phase is not charged. */
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
  /** One point of the metrics, such as { loss, learning_rate, grad_norm, eval_loss, tokens_per_second }. */
  z.object({
    ...numbered,
    type: z.literal('metrics'),
    step: z.int(),
    values: z.record(z.string(), z.number()),
  }),
  z.object({ ...numbered, type: z.literal('log'), line: z.string() }),
  z.object({ ...numbered, type: z.literal('checkpoint'), step: z.int() }),
  z.object({ ...numbered, type: z.literal('held_out_answers'), ...heldOutAnswers.shape }),
  /** Samples of a checkpoint, in the order of the spec's `sample_prompts`, already stored as artefacts. */
  z.object({
    ...numbered,
    type: z.literal('samples'),
    step: z.int().min(0),
    pictures: z
      .array(z.object({ path: z.string().max(500), width: z.int().min(1), height: z.int().min(1) }))
      .max(8),
    /** The checkpoint's adapter, as an artefact. Absent for the base model before the first step. */
    adapter: z.string().max(500).optional(),
  }),
  /**
   * A model server has received SIGTERM and will finish its open requests within this time.
   */
  z.object({ ...numbered, type: z.literal('leaving'), within_seconds: z.int().min(1) }),
  /** A model server accepts requests. */
  z.object({ ...numbered, type: z.literal('ready'), base_url: z.string() }),
  /** A text server has loaded an adapter from `reportsAnswer.adapters`, or not: `failure` says why. */
  z.object({ ...numbered, type: z.literal('adapter'), name: z.string(), failure: z.string().nullable() }),
  /** A run has uploaded its last artefact. The server stores `summary` with the run. */
  z.object({
    ...numbered,
    type: z.literal('result'),
    files: z.array(z.object({ path: z.string(), sha256: z.string(), size_bytes: z.int() })),
    summary: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
  }),
  /** The workload was asked to stop and has saved its work. It can be resumed. */
  z.object({ ...numbered, type: z.literal('stopped'), step: z.int() }),
  /** The workload has failed and must not be retried. `message` is one plain sentence for the user. */
  z.object({ ...numbered, type: z.literal('failed'), message: z.string() }),
]);

export const reportsBody = z.object({ reports: z.array(report).max(500) });

/**
 * `command: stop` asks the workload to save its work and exit. Every answer repeats it. A model server first
 * finishes open requests, which may take `drain_seconds`, or a few seconds by default.
 */
export const reportsAnswer = z.object({
  accepted_seq: z.int(),
  command: z.enum(['continue', 'stop']),
  drain_seconds: z.int().min(1).optional(),
  /** Adapters that a running text server must load. After a failure, a later `requested_at` asks again. */
  adapters: z
    .array(z.object({ name: z.string(), requested_at: z.string(), files: z.array(inputFile) }))
    .optional(),
  /** All adapters that a running text server needs: it unloads the others. If absent, it unloads none. */
  wanted_adapters: z.array(z.string()).optional(),
});

export type HeldOutAnswers = z.infer<typeof heldOutAnswers>;
export type ReportsAnswer = z.infer<typeof reportsAnswer>;
export type Report = z.infer<typeof report>;

import * as z from 'zod';

/**
 * What a workload tells the server. Reports are numbered from 1 and idempotent by `seq`:
 * a batch may be sent again after a lost answer. After a restart the runtime goes on
 * from the last number that the server accepted (see `reportsAnswer.accepted_seq`).
 */
const numbered = {
  seq: z.int().min(1),
  /** ISO 8601, UTC. */
  at: z.string(),
};

/** Longest text of a held-out row or of an answer to it; what is longer comes cut. */
const heldOutText = z.string().max(2_100);

export const heldOutAnswer = z.object({
  /** What was asked last before the answer; of a text its beginning. */
  question: heldOutText,
  /** Turns of the conversation before it, which both models have read too. */
  earlier_turns: z.int().min(0),
  /** What the row says. */
  expected: heldOutText,
  base: heldOutText,
  tuned: heldOutText,
});

/** What the base and the tuned model say to rows that were held out. */
export const heldOutAnswers = z.object({
  /** Whether questions are answered, or beginnings of texts are gone on with. */
  task: z.enum(['answer', 'continue']),
  rows: z.array(heldOutAnswer).max(5),
  /** Why there are no rows, as one plain sentence; null where there are some. */
  skipped: z.string().max(500).nullable(),
  /** Where neither model could be asked: what can still be asked of both by hand. */
  questions: z.array(heldOutText).max(5).optional(),
});

export const report = z.discriminatedUnion('type', [
  /** A named phase begins, e.g. `pulling inputs`, `loading model`, `training`, `evaluating`, `saving`. */
  z.object({
    ...numbered,
    type: z.literal('phase'),
    phase: z.string(),
    /** False: its time is no part of the work and costs nothing. */
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
  /** One point of the curves, e.g. { loss, learning_rate, grad_norm, eval_loss, tokens_per_second }. */
  z.object({
    ...numbered,
    type: z.literal('metrics'),
    step: z.int(),
    values: z.record(z.string(), z.number()),
  }),
  z.object({ ...numbered, type: z.literal('log'), line: z.string() }),
  z.object({ ...numbered, type: z.literal('checkpoint'), step: z.int() }),
  z.object({ ...numbered, type: z.literal('held_out_answers'), ...heldOutAnswers.shape }),
  /** A checkpoint has drawn these: artefacts that are stored already, in the order of the spec's `sample_prompts`. */
  z.object({
    ...numbered,
    type: z.literal('samples'),
    step: z.int().min(0),
    pictures: z
      .array(z.object({ path: z.string().max(500), width: z.int().min(1), height: z.int().min(1) }))
      .max(8),
    /** The adapter that has drawn them, as an artefact; before the first step there is none. */
    adapter: z.string().max(500).optional(),
  }),
  /** A model server is told by its place to end: for so long it finishes what it has begun. */
  z.object({ ...numbered, type: z.literal('leaving'), within_seconds: z.int().min(1) }),
  /** A server is answering. */
  z.object({ ...numbered, type: z.literal('ready'), base_url: z.string() }),
  /** A finite workload has uploaded its last artefact. `summary` is kept with the run. */
  z.object({
    ...numbered,
    type: z.literal('result'),
    files: z.array(z.object({ path: z.string(), sha256: z.string(), size_bytes: z.int() })),
    summary: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
  }),
  /** Stopped on request after saving its work; it can be resumed. */
  z.object({ ...numbered, type: z.literal('stopped'), step: z.int() }),
  /** It cannot go on. `message` is one plain sentence for the person who started it. */
  z.object({ ...numbered, type: z.literal('failed'), message: z.string() }),
]);

export const reportsBody = z.object({ reports: z.array(report).max(500) });

/**
 * `command: stop` asks the workload to save its work and end; the answer to every batch repeats it. A model server
 * first finishes what is in flight: for `drain_seconds` at most, or its own few seconds where there are none.
 */
export const reportsAnswer = z.object({
  accepted_seq: z.int(),
  command: z.enum(['continue', 'stop']),
  drain_seconds: z.int().min(1).optional(),
});

export type HeldOutAnswers = z.infer<typeof heldOutAnswers>;
export type Report = z.infer<typeof report>;

import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { modelName } from './fields/model-name.ts';
import { only } from './fields/only.ts';
import { bgl } from './money.ts';
import { runIdParams as params } from './runs.ts';
import { heldOutAnswer } from './runtime/report.ts';

/* Whether a fine-tune answers held-out rows better than its base, by a model that judges. */

const PROMPT_LENGTH_MAX = 8_000;

/** What a prompt stands in for. Which model gave answer A is not said: each pair is asked about in both orders. */
export const judgePlaces = {
  question: '{{question}}',
  reference: '{{reference}}',
  answer_a: '{{answer_a}}',
  answer_b: '{{answer_b}}',
} as const;

/** Without these there is nothing to judge. */
export const neededPlaces = [judgePlaces.question, judgePlaces.answer_a, judgePlaces.answer_b];

/** As MT-Bench asks where a reference is known, with a last line that is read by itself. */
export const DEFAULT_JUDGE_PROMPT = `Judge which of two answers to the same input is better. The reference answer is right: the better answer agrees with it more, in facts and in manner. Do not let the order of the answers, their length or their style influence you. An answer that ends with … was cut off there, which is no fault.

[Input]
${judgePlaces.question}
[End of input]

[Reference answer]
${judgePlaces.reference}
[End of reference answer]

[Answer A]
${judgePlaces.answer_a}
[End of answer A]

[Answer B]
${judgePlaces.answer_b}
[End of answer B]

Compare both answers with the reference in one or two sentences. Then write a last line with nothing but A if answer A is better, B if answer B is better, or TIE if both are equally good.`;

const settings = only({
  /** Name of a deployment (`model_name`), or a starter model's. */
  model: modelName,
  prompt: z
    .string()
    .max(PROMPT_LENGTH_MAX, `prompt must have at most ${PROMPT_LENGTH_MAX} characters`)
    .refine(
      (text) => neededPlaces.every((place) => text.includes(place)),
      `prompt must have ${neededPlaces.join(', ')} where the texts go`,
    )
    .default(DEFAULT_JUDGE_PROMPT),
});
export type JudgeSettings = z.infer<typeof settings>;

const judgeAnswer = z.object({
  /** Whether answer A was the fine-tune's. */
  tuned_first: z.boolean(),
  /** What the judge wrote; null: it has not answered. */
  text: z.string().nullable(),
  /** Whose answer its last line names; null: none, or it has not answered. */
  verdict: z.enum(['tuned', 'base', 'tie']).nullable(),
  /** What the judge was refused with. */
  error: z.string().nullable(),
});

const judgedRow = heldOutAnswer.extend({
  /**
   * Of the fine-tune: `win` and `loss` where both orders name the same answer, `tie` where they do not, or where both answers are
   * the same text. `no_verdict`: an answer of the judge names neither. `open`: the judge has not answered both times.
   */
  outcome: z.enum(['win', 'tie', 'loss', 'no_verdict', 'open']),
  /** Empty where both answers are the same text: nothing was asked. */
  judge: z.array(judgeAnswer).max(2),
});
export type JudgedRow = z.infer<typeof judgedRow>;

const judgement = z.object({
  run_id: z.string(),
  status: z.enum(['running', 'cancelling', 'completed', 'cancelled', 'failed']),
  settings,
  /** Two for each pair of different answers. */
  requests: z.int(),
  requests_done: z.int(),
  /** Of these: the judge gave no answer. */
  requests_failed: z.int(),
  wins: z.int(),
  ties: z.int(),
  losses: z.int(),
  no_verdict: z.int(),
  /** Wins and half of the ties, of all pairs with a verdict, 0 to 1; null before there is one. */
  win_rate: z.number().nullable(),
  /** Where the win rate is in 95 of 100 such samples (Wilson). */
  interval: z.object({ low: z.number(), high: z.number() }).nullable(),
  rows: z.array(judgedRow),
  /** What the judge was last refused with, or why it failed. */
  error: z.string().nullable(),
  /** BGL that are held while it runs, and that its answers have cost. */
  held: bgl,
  cost_so_far: bgl,
  started_at: z.string(),
  ended_at: z.string().nullable(),
});
export type Judgement = z.infer<typeof judgement>;

const start = only({
  /** Left out: what has no answer is asked again, as before. With settings the verdicts of before go. */
  settings: settings.optional(),
});

export const getJudgement = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/judgement',
  access: 'key',
  operation: 'read the verdicts',
  summary: "Get a judge model's verdicts on the answers of base and fine-tune to held-out rows",
  params,
  /** Null: no model was asked. */
  response: z.object({ judgement: judgement.nullable() }),
});

export const quoteJudgement = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/judgement/quote',
  access: 'key',
  operation: 'work out the price',
  summary: 'Get how often a judge model is asked, and what that costs at most',
  params,
  body: start,
  response: z.object({
    requests: z.int(),
    /** BGL that are held: tokens are charged as they are used, and the rest is released. */
    highest_bgl: bgl,
  }),
});

export const startJudgement = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/judgement/start',
  access: 'key',
  spends: true,
  operation: 'ask the judge',
  summary: 'Have a model judge the answers of base and fine-tune: anew, or on from where it has ended',
  params,
  body: start,
  status: 202,
  response: judgement,
});

export const cancelJudgement = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/judgement/cancel',
  access: 'key',
  operation: 'cancel the judge',
  summary: 'Cancel a judge model: the verdicts that it gave stay, and are charged',
  params,
  response: judgement,
});

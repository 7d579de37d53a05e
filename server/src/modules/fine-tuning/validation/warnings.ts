import { fineTuneNumbers, objectiveNames } from '@bakehouse/contract/fine-tune-numbers';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { findGguf } from '../../models/weights/model-files.ts';
import type { SettledFields } from '../fine-tune-spec.ts';

/** Usual range of learning rates. */
const LEARNING_RATE = { min: 1e-6, max: 2e-3 };

/** Usual rates for objectives that only shift the base's answers. */
const SHIFTING_RATES = { dpo: ['5e-6', '2e-4'], kto: ['5e-6', '5e-4'], grpo: ['1e-6', '5e-4'] } as const;

/** Usual rates for full fine-tuning, in which each step moves every weight by about the rate. */
const FULL_RATES = {
  sft: ['1e-5', '1e-4'],
  dpo: ['5e-7', '5e-5'],
  kto: ['5e-7', '5e-5'],
  grpo: ['1e-6', '5e-5'],
} as const;

/**
 * Usual range for the weight of all good answers in the loss, relative to the bad ones. TRL and the KTO paper
 * advise it; a margin is added.
 */
const WEIGHED = { min: 0.75, max: 1.75 };

/** Families for which vLLM does not support an adapter on lm_head. */
const WITHOUT_HEAD = ['qwen2', 'qwen2_moe', 'qwen3', 'qwen3_moe'];

/** Returns warnings about settings that do not fit the objective or the rows. */
export function findObjectiveWarnings(
  fields: Pick<
    SettledFields,
    'learning_rate' | 'objective' | 'adaptation' | 'desirable_weight' | 'undesirable_weight'
  >,
  ratings: ValidateReport['ratings'],
): string[] {
  return [...warnOfLearningRate(fields), ...warnOfWeights(fields, ratings)];
}

function warnOfLearningRate({
  learning_rate: rate,
  objective,
  adaptation,
}: Pick<SettledFields, 'learning_rate' | 'objective' | 'adaptation'>): string[] {
  if (adaptation === 'full') return warnOfFullRate(rate, objective);
  if (objective !== 'sft' && rate > Number(SHIFTING_RATES[objective][1])) {
    const [least, most] = SHIFTING_RATES[objective];
    return [
      `A learning rate of ${rate} is far above what ${objectiveNames[objective]} usually tolerates (${least} to ${most}): the model may forget how to answer.`,
    ];
  }
  return warnOfAdapterRate(rate);
}

function warnOfAdapterRate(rate: number): string[] {
  if (rate > LEARNING_RATE.max) {
    return [
      `A learning rate of ${rate} is far above what LoRA usually tolerates (2e-4 to 1e-3): the loss may not fall.`,
    ];
  }
  if (rate < LEARNING_RATE.min)
    return [`A learning rate of ${rate} is so low that the model will hardly change.`];
  return [];
}

function warnOfFullRate(rate: number, objective: keyof typeof FULL_RATES): string[] {
  const [least, most] = FULL_RATES[objective];
  if (rate <= Number(most)) return [];
  return [
    `A learning rate of ${rate} is far above what a full fine-tune usually bears with ${objectiveNames[objective]} (${least} to ${most}): the model may forget what it knew.`,
  ];
}

/** Warns if one kind of answer has much more weight than the other. */
function warnOfWeights(
  {
    desirable_weight: ofGood,
    undesirable_weight: ofBad,
  }: Pick<SettledFields, 'desirable_weight' | 'undesirable_weight'>,
  ratings: ValidateReport['ratings'],
): string[] {
  if (!ratings || ratings.good === 0 || ratings.bad === 0) return [];
  const [good, bad] = [ratings.good * ofGood, ratings.bad * ofBad];
  if (good >= WEIGHED.min * bad && good <= WEIGHED.max * bad) return [];
  const [kind, weight] =
    good < bad ? (['good', bad / ratings.good] as const) : (['bad', good / ratings.bad] as const);
  const { max } = fineTuneNumbers.desirable_weight;
  const suits = Math.min(max, Number(weight.toPrecision(2)));
  return [
    `${ratings.good} good and ${ratings.bad} bad answers are trained on: with a weight of ${suits} for ${kind} ones both kinds count alike.`,
  ];
}

type Run = {
  base: { asset: { title: string }; files: { path: string }[] };
  /** The base's config.json; null if it has none. */
  config: Record<string, unknown> | null;
  /** Why llama.cpp cannot load the adapter; null if it can. */
  obstacle: string | null;
  fields: Pick<SettledFields, 'lora_target_modules' | 'max_chunk_size' | 'use_dora'>;
};

/**
 * Returns warnings if the fine-tune could not be deployed here, or would be served differently from how it
 * was trained. The user would have paid in vain.
 */
export function findServingWarnings(run: Run, capacity: Capacity): string[] {
  const found = [capacity.servesTextOnGpus ? warnOfHead(run) : warnOfLlamaCpp(run), warnOfLength(run)];
  return found.filter((warning) => warning !== null);
}

function warnOfLlamaCpp({ base, obstacle }: Run): string | null {
  const gguf = findGguf(base);
  const fault = gguf.files.length > 0 ? gguf.fault : `${base.asset.title} has no GGUF file`;
  const reason = fault === null ? obstacle : `${fault}.`;
  if (reason === null) return null;
  return (
    'The model of this run can be downloaded, but not deployed on this machine, ' +
    `which serves text with llama.cpp: ${reason}`
  );
}

function warnOfHead({ base, config, fields }: Run): string | null {
  const isRefused =
    // A DoRA is merged into its base, so there is no adapter to refuse.
    !fields.use_dora &&
    fields.lora_target_modules.includes('lm_head') &&
    WITHOUT_HEAD.some((family) => family === config?.model_type) &&
    config?.tie_word_embeddings !== true;
  if (!isRefused) return null;
  return (
    "The model of this run can be downloaded, but not deployed on this machine's GPUs: vLLM takes no adapter on lm_head " +
    `of models like ${base.asset.title}. Leave lm_head out of the target modules.`
  );
}

function warnOfLength({ config, fields }: Run): string | null {
  const positions = config?.max_position_embeddings;
  const most = typeof positions === 'number' ? positions : Infinity;
  const served = Math.min(most, DEFAULT_CONTEXT_TOKENS);
  if (fields.max_chunk_size <= served) return null;
  return (
    `Examples may have up to ${fields.max_chunk_size} tokens, but a deployment of the model reads and writes ` +
    `at most ${served} in one request${most > served ? ' unless it asks for a longer context' : ''}.`
  );
}

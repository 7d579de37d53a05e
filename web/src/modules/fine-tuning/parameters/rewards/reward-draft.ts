import { numberProblem } from '@bakehouse/contract/fields/number-field';
import {
  NO_REWARD,
  PATTERN_LENGTH_MAX,
  REWARD_SCHEMA_LENGTH_MAX,
  rewardWeight,
} from '@bakehouse/contract/fine-tune-numbers';
import type { Reward } from '@bakehouse/contract/fine-tuning';
import type { matchComparisons, stringChecks } from '@bakehouse/contract/limits';
import type { TextRun } from '@bakehouse/contract/runs';

/** A reward in the form. Input for one kind is kept while another is selected. */
export type RewardDraft = {
  type: Reward['type'];
  pattern: string;
  compare: (typeof matchComparisons)[number];
  operation: (typeof stringChecks)[number];
  /** Empty: use the row's reference. */
  reference: string;
  /** As typed. */
  json_schema: string;
  weight: number;
};

export const blankReward: RewardDraft = {
  ...{ type: 'pattern', pattern: '', compare: 'text', operation: 'eq', reference: '', json_schema: '' },
  weight: rewardWeight.default,
};

export const rewardLabels: Record<Reward['type'], string> = {
  pattern: 'Pattern',
  match: 'Match with the reference',
  string_check: 'Text check',
  json_schema: 'JSON Schema',
};

export const comparisonLabels: Record<RewardDraft['compare'], string> = {
  text: 'The whole text',
  last_number: 'The last number',
};

export const checkLabels: Record<RewardDraft['operation'], string> = {
  eq: 'Is exactly',
  ne: 'Is not',
  like: 'Contains',
  ilike: 'Contains, in any case',
};

/** Converts the form's reward to the API's. */
export function toReward({ type, weight, ...draft }: RewardDraft): Reward {
  const { pattern, compare, operation, reference, json_schema } = draft;
  if (type === 'pattern') return { type, pattern, weight };
  if (type === 'match') return { type, compare, weight };
  if (type === 'string_check') return { type, operation, ...(reference && { reference }), weight };
  return { type, json_schema: schemaOf(json_schema) ?? {}, weight };
}

/** Converts the API's reward to the form's. */
export function toDraft(reward: Reward): RewardDraft {
  const { type, weight } = reward;
  if (type !== 'json_schema') return { ...blankReward, ...reward };
  return { ...blankReward, type, weight, json_schema: JSON.stringify(reward.json_schema, null, 2) };
}

/** Returns the error of the first invalid reward. */
export function rewardsProblem(rewards: readonly RewardDraft[], hasReference: boolean): string | undefined {
  if (rewards.length === 0) return NO_REWARD;
  for (const [at, reward] of rewards.entries()) {
    const problem = rewardProblem(reward, hasReference);
    if (problem) return rewards.length === 1 ? problem : `Reward ${at + 1}: ${problem}`;
  }
  return undefined;
}

function rewardProblem(reward: RewardDraft, hasReference: boolean): string | undefined {
  const { type, pattern, reference, json_schema, weight } = reward;
  if (type === 'pattern' && pattern === '') return 'Write a pattern';
  if (type === 'pattern' && pattern.length > PATTERN_LENGTH_MAX) {
    return `A pattern must have at most ${PATTERN_LENGTH_MAX} characters`;
  }
  if (type === 'match' && !hasReference) return 'Choose the column with the reference, or another reward';
  if (type === 'string_check') {
    if (!reference && !hasReference) return 'Write the text, or choose the column with the reference';
    if (reference.length > PATTERN_LENGTH_MAX) {
      return `The text must have at most ${PATTERN_LENGTH_MAX} characters`;
    }
  }
  if (type === 'json_schema') {
    if (schemaOf(json_schema) === null) return 'Write the JSON Schema as a JSON object';
    if (json_schema.length > REWARD_SCHEMA_LENGTH_MAX) {
      return `A JSON Schema must have at most ${REWARD_SCHEMA_LENGTH_MAX} characters`;
    }
  }
  return numberProblem(rewardWeight, weight);
}

function schemaOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

type StoredReward = TextRun['parameters']['rewards'][number];

/** Returns a short description of a reward: 'matches ^Yes'. */
export function describeReward(reward: StoredReward): string {
  const what = describeRule(reward);
  return reward.weight === rewardWeight.default ? what : `${what} × ${reward.weight}`;
}

function describeRule(reward: StoredReward): string {
  switch (reward.type) {
    case 'pattern':
      return `pattern ${reward.pattern}`;
    case 'match':
      return `match (${comparisonLabels[reward.compare].toLowerCase()})`;
    case 'string_check':
      return `${checkLabels[reward.operation].toLowerCase()} ${reward.reference ?? 'the reference'}`;
    case 'json_schema':
      return 'JSON Schema';
    // Only in older runs.
    case 'model':
      return 'reward model';
  }
}

import { REWARDS_MAX, rewardWeight } from '@bakehouse/contract/fine-tune-numbers';
import { type AnswerFormat, type Grader, OUTPUT_TEXT, type StringCheck } from '@bakehouse/contract/graders';
import type { Reward } from '@bakehouse/contract/training';
import { refused } from '../../../platform/errors.ts';
import { FormulaError, readWeights } from './read-formula.ts';

const GRADER = 'method.reinforcement.grader';
const TEMPLATE = /\{\{\s*([^{}]*?)\s*\}\}/g;
/** A reference to a row's field. */
const ITEM = /^\{\{\s*item\.(\w+)\s*\}\}$/;

/** The rewards for answers, and the row's field to compare them with, if any. */
export type Rewards = { rewards: Reward[]; referenceField: string | null };

/**
 * Converts a grader and an optional answer format to equivalent rewards. Throws AppError 'invalid_request'
 * with the field that rewards cannot express.
 */
export function toRewards(grader: Grader, format: AnswerFormat | null): Rewards {
  const checks = grader.type === 'multi' ? weighted(grader) : [{ check: grader, weight: 1, param: GRADER }];
  const fields = new Set<string>();
  const rewards = checks.map(({ check, weight, param }): Reward => {
    const { field, text } = readReference(check, param);
    if (field !== null) fields.add(field);
    if (fields.size > 1)
      throw refused(
        `${param}.reference`,
        `reference must name the same field in all graders: answers are compared with one field of a row, and these are ${[...fields].join(' and ')}`,
      );
    return {
      type: 'string_check',
      operation: check.operation,
      ...(text !== null && { reference: text }),
      weight,
    };
  });
  if (format) rewards.push({ type: 'json_schema', json_schema: format.json_schema.schema, weight: 1 });
  if (rewards.length > REWARDS_MAX)
    throw refused(`${GRADER}.graders`, `graders must be at most ${REWARDS_MAX - 1} beside a response_format`);
  return { rewards, referenceField: [...fields][0] ?? null };
}

function weighted({ graders, calculate_output: formula }: Extract<Grader, { type: 'multi' }>) {
  const param = `${GRADER}.calculate_output`;
  const weights = weightsOf(formula, Object.keys(graders), param);
  return Object.entries(graders).map(([name, check]) => {
    const weight = weights.get(name) ?? 0;
    const { min, max } = rewardWeight;
    if (weight < min || weight > max)
      throw refused(
        param,
        `calculate_output weighs ${name} with ${weight}: it must be from ${min} to ${max}`,
      );
    return { check, weight, param: `${GRADER}.graders.${name}` };
  });
}

function weightsOf(formula: string, names: string[], param: string): Map<string, number> {
  try {
    return readWeights(formula, names);
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    throw refused(param, `calculate_output ${error.message}`, error);
  }
}

/** Returns the row's field or the text that an answer is compared with. */
function readReference(
  { input, reference }: StringCheck,
  param: string,
): { field: string | null; text: string | null } {
  if (input.replace(TEMPLATE, '{{$1}}') !== OUTPUT_TEXT)
    throw refused(`${param}.input`, `input must be '${OUTPUT_TEXT}': it is the answer that is graded`);
  const field = ITEM.exec(reference)?.[1];
  if (field === 'messages')
    throw refused(`${param}.reference`, 'reference must be a field beside messages, which are the prompt');
  if (field) return { field, text: null };
  if (reference.search(TEMPLATE) >= 0)
    throw refused(
      `${param}.reference`,
      "reference must be one field of the row, such as '{{item.answer}}', or a text without templates",
    );
  return { field: null, text: reference };
}

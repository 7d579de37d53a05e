import { REWARDS_MAX, rewardWeight } from '@bakehouse/contract/fine-tune-numbers';
import type { Reward } from '@bakehouse/contract/fine-tuning';
import { type AnswerFormat, type Grader, OUTPUT_TEXT, type StringCheck } from '@bakehouse/contract/graders';
import { invalidParam } from '../../../platform/errors.ts';

/** The formula is not a weighted sum. The message explains why and continues the field's name. */
class FormulaError extends Error {}

const TOKEN = /\s*(?:(\d+(?:\.\d*)?|\.\d+)|([A-Za-z_]\w*)|([-+*/()]))/y;
const ALLOWED = 'it must be a weighted sum of the graders, such as 0.8 * correct + 0.2 * polite';
const GRADER = 'method.reinforcement.grader';
const TEMPLATE = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** A reference to a row's field. */
const ITEM = /^\{\{\s*item\.(\w+)\s*\}\}$/;

/** Rewards, and the field of a row with which answers are compared; null if there is none. */
type Rewards = { rewards: Reward[]; referenceField: string | null };

/**
 * Converts a grader to equivalent rewards; an answer format becomes one more reward. Throws AppError
 * 'invalid_request' with the field that has no equivalent.
 */
export function toRewards(grader: Grader, format: AnswerFormat | null): Rewards {
  const checks = grader.type === 'multi' ? weighted(grader) : [{ check: grader, weight: 1, param: GRADER }];
  const fields = new Set<string>();
  const rewards = checks.map(({ check, weight, param }): Reward => {
    const { field, text } = readReference(check, param);
    if (field !== null) fields.add(field);
    if (fields.size > 1)
      throw invalidParam(
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
    throw invalidParam(
      `${GRADER}.graders`,
      `graders must have at most ${REWARDS_MAX - 1} entries if response_format is set`,
    );
  return { rewards, referenceField: [...fields][0] ?? null };
}

function weighted({ graders, calculate_output: formula }: Extract<Grader, { type: 'multi' }>) {
  const param = `${GRADER}.calculate_output`;
  const weights = weightsOf(formula, Object.keys(graders), param);
  return Object.entries(graders).map(([name, check]) => {
    const weight = weights.get(name) ?? 0;
    const { min, max } = rewardWeight;
    if (weight < min || weight > max)
      throw invalidParam(
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
    throw invalidParam(param, `calculate_output ${error.message}`, error);
  }
}

/** Returns the field of a row, or else the text, with which answers are compared. */
function readReference(
  { input, reference }: StringCheck,
  param: string,
): { field: string | null; text: string | null } {
  if (input.replace(TEMPLATE, '{{$1}}') !== OUTPUT_TEXT)
    throw invalidParam(`${param}.input`, `input must be '${OUTPUT_TEXT}': it is the answer that is graded`);
  const field = ITEM.exec(reference)?.[1];
  if (field === 'messages')
    throw invalidParam(
      `${param}.reference`,
      'reference must not be messages, which are the prompt: name another field of the row',
    );
  if (field) return { field, text: null };
  if (reference.search(TEMPLATE) >= 0)
    throw invalidParam(
      `${param}.reference`,
      "reference must be one field of the row, such as '{{item.answer}}', or a text without templates",
    );
  return { field: null, text: reference };
}

/** A sum of weighted names and a constant. */
type Sum = { constant: number; weights: Map<string, number> };

/**
 * Returns the weight of each name in a formula such as `0.8 * correct + 0.2 * polite`. A formula may contain
 * numbers, names, + - * / and parentheses. Throws FormulaError.
 */
function readWeights(formula: string, names: readonly string[]): Map<string, number> {
  const { constant, weights } = sumOf(tokensOf(formula), names);
  if (constant !== 0) throw new FormulaError(`adds ${constant}, which no answer can score: leave it out`);
  return new Map(names.map((name) => [name, weights.get(name) ?? 0]));
}

function tokensOf(formula: string): string[] {
  const tokens: string[] = [];
  const text = formula.trimEnd();
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw new FormulaError(`cannot be read from '${text.slice(at, at + 20)}' on: ${ALLOWED}`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

/** Recursive descent by operator precedence. */
function sumOf(tokens: readonly string[], names: readonly string[]): Sum {
  let at = 0;
  const acceptToken = (...wanted: string[]) => {
    const token = tokens[at];
    if (token === undefined || !wanted.includes(token)) return null;
    at += 1;
    return token;
  };
  const sum = (): Sum => {
    let total = product();
    for (let sign = acceptToken('+', '-'); sign; sign = acceptToken('+', '-'))
      total = plus(total, times(product(), sign === '-' ? -1 : 1));
    return total;
  };
  const product = (): Sum => {
    let total = factor();
    for (let sign = acceptToken('*', '/'); sign; sign = acceptToken('*', '/'))
      total = sign === '*' ? multiplied(total, factor()) : times(total, 1 / divisor(factor()));
    return total;
  };
  const factor = (): Sum => {
    const sign = acceptToken('-', '+');
    if (sign) return times(factor(), sign === '-' ? -1 : 1);
    if (acceptToken('(')) {
      const inner = sum();
      if (!acceptToken(')')) throw new FormulaError(`does not close its brackets: ${ALLOWED}`);
      return inner;
    }
    return valueOf(tokens[at++], names);
  };
  const total = sum();
  if (at < tokens.length) throw new FormulaError(`cannot be read at '${tokens[at]}': ${ALLOWED}`);
  return total;
}

function valueOf(token: string | undefined, names: readonly string[]): Sum {
  if (token !== undefined && names.includes(token)) return { constant: 0, weights: new Map([[token, 1]]) };
  const constant = Number(token);
  if (token !== undefined && Number.isFinite(constant)) return { constant, weights: new Map() };
  const lack =
    token === undefined ? 'ends too soon' : `contains '${token}', which is not the name of a grader`;
  throw new FormulaError(`${lack}: ${ALLOWED}`);
}

function plus(one: Sum, other: Sum): Sum {
  const weights = new Map(one.weights);
  for (const [name, weight] of other.weights) weights.set(name, (weights.get(name) ?? 0) + weight);
  return { constant: one.constant + other.constant, weights };
}

function times({ constant, weights }: Sum, factor: number): Sum {
  return {
    constant: constant * factor,
    weights: new Map([...weights].map(([name, weight]) => [name, weight * factor])),
  };
}

function multiplied(one: Sum, other: Sum): Sum {
  if (one.weights.size === 0) return times(other, one.constant);
  if (other.weights.size === 0) return times(one, other.constant);
  throw new FormulaError(`multiplies graders with each other: ${ALLOWED}`);
}

function divisor({ constant, weights }: Sum): number {
  if (weights.size > 0) throw new FormulaError(`divides by a grader: ${ALLOWED}`);
  if (constant === 0) throw new FormulaError('divides by 0');
  return constant;
}

import * as z from 'zod';
import { unknownParameter } from './chat.ts';
import { PATTERN_LENGTH_MAX, REWARD_SCHEMA_LENGTH_MAX, REWARDS_MAX } from './fine-tune-numbers.ts';
import { stringChecks } from './limits.ts';

/* OpenAI's graders, limited to those that this server can convert to rewards. */

/** Template for the answer in a grader's `input`. */
export const OUTPUT_TEXT = '{{sample.output_text}}';

const WITH_RULES = "rewards here are rules that are paid or not. Use 'string_check'";
const REFUSED: Record<string, string> = {
  text_similarity: `type must not be 'text_similarity', which pays parts of a reward: ${WITH_RULES}`,
  score_model: `type must not be 'score_model', which asks a model: ${WITH_RULES}`,
  label_model: `type must not be 'label_model', which asks a model: ${WITH_RULES}`,
  python: `type must not be 'python', since no code of yours is run: ${WITH_RULES}`,
};

/** Returns the message for an unsupported grader. */
function refusal(allowed: string) {
  return ({ input }: { input?: unknown }) => {
    const type = typeof input === 'object' && input !== null && 'type' in input ? input.type : undefined;
    return REFUSED[String(type)] ?? `type must be ${allowed}`;
  };
}

const NAME_LENGTH_MAX = 100;
const FORMULA_LENGTH_MAX = 1_000;
const name = z
  .string()
  .min(1, 'name is required')
  .max(NAME_LENGTH_MAX, `name must have at most ${NAME_LENGTH_MAX} characters`);
const template = (field: string) =>
  z
    .string()
    .min(1, `${field} is required`)
    .max(PATTERN_LENGTH_MAX, `${field} must have at most ${PATTERN_LENGTH_MAX} characters`);

export const stringCheck = z
  .object({
    type: z.literal('string_check'),
    name,
    /** The answer: `{{sample.output_text}}`. */
    input: template('input'),
    /** A text, or a field of the row: `{{item.answer}}`. */
    reference: template('reference'),
    operation: z.enum(stringChecks, `operation must be one of ${stringChecks.join(', ')}`),
  })
  .catchall(unknownParameter);

export const multiGrader = z
  .object({
    type: z.literal('multi'),
    name,
    graders: z
      .record(
        z.string().regex(/^[A-Za-z_]\w*$/, 'graders must be named by letters, digits and _'),
        z.discriminatedUnion('type', [stringCheck], { error: refusal("'string_check'") }),
        'graders must be an object of graders by their names',
      )
      .refine((all) => Object.keys(all).length <= REWARDS_MAX, `graders must be at most ${REWARDS_MAX}`),
    /** A weighted sum of the graders: `0.8 * correct + 0.2 * polite`. */
    calculate_output: z
      .string()
      .max(FORMULA_LENGTH_MAX, `calculate_output must have at most ${FORMULA_LENGTH_MAX} characters`),
  })
  .catchall(unknownParameter);

export const grader = z.discriminatedUnion('type', [stringCheck, multiGrader], {
  error: refusal("'string_check' or 'multi'"),
});

/** Not enforced while the model generates. An answer in this format earns 1 in addition. */
export const answerFormat = z
  .object({
    type: z.literal('json_schema', "type must be 'json_schema'"),
    json_schema: z
      .object({
        name,
        description: z.string().max(PATTERN_LENGTH_MAX).nullish(),
        schema: z
          .record(z.string(), z.unknown(), 'schema must be a JSON Schema')
          .refine(
            (schema) => JSON.stringify(schema).length <= REWARD_SCHEMA_LENGTH_MAX,
            `schema must have at most ${REWARD_SCHEMA_LENGTH_MAX} characters`,
          ),
        strict: z.boolean('strict must be true or false').nullish(),
      })
      .catchall(unknownParameter),
  })
  .catchall(unknownParameter);

export type StringCheck = z.output<typeof stringCheck>;
export type Grader = z.output<typeof grader>;
export type AnswerFormat = z.output<typeof answerFormat>;

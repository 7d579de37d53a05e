/**
 * Column names of public datasets by meaning, the most specific name first. Keep in step with the runtime's
 * `data/layouts/columns.py`, which documents how it treats unused columns.
 */
export const INSTRUCTION = ['instruction'];
export const QUESTION = ['question', 'prompt', 'query', 'input', 'inputs', 'input_text'];
export const ANSWER = [
  ...['output', 'response', 'answer', 'completion', 'target', 'targets'],
  ...['output_text', 'target_text', 'best_answer'],
];
export const SYSTEM = ['system', 'system_prompt', 'system_message'];
/** Columns of Natural Instructions; the definition is the instruction for the inputs. */
export const NATURAL_INSTRUCTIONS = ['definition', 'inputs', 'targets'];
export const TEXT = ['text', 'content'];
export const CHOICES = ['choices', 'options', 'endings'];
/** Names of conversation columns, by priority if several columns hold conversations. */
export const DIALOGUE = ['messages', 'conversations', 'conversation'];
/** Turns before a question in a separate column. */
export const HISTORY = ['history'];
/** The preferred answer and the rejected answer. */
export const PREFERENCES: readonly (readonly [better: string, worse: string])[] = [
  ['chosen', 'rejected'],
  ['chosen_response', 'rejected_response'],
  ['preferred_output', 'non_preferred_output'],
];
/**
 * Preference data has two conversations per row; treating it as plain dialogue would train on an arbitrary
 * one.
 */
export const PREFERENCE = PREFERENCES.flat();
/** Columns that rate an answer, and their positive values. */
export const FEEDBACK = [
  ...['label', 'kto_tag', 'thumbs', 'thumbs_up'],
  ...['rating', 'feedback', 'desirable', 'is_good'],
];
export const GOOD = ['true', '1', '1.0', 'yes', 'good', 'up', 'thumbs_up', 'thumbs up', 'like', '👍'];
export const BAD = [
  ...['false', '0', '0.0', '-1', 'no', 'bad', 'down'],
  ...['thumbs_down', 'thumbs down', 'dislike', '👎'],
];
/** Columns of prompts without answers, of reference answers, and columns that may accompany both. */
export const PROMPTS = ['prompt', 'question', 'query', 'instruction'];
export const REFERENCE = ['reference', 'reference_answer', 'ground_truth', 'solution', 'reward_model'];
export const BESIDE_PROMPTS = [
  ...SYSTEM,
  ...['context', 'passage', 'paragraph'],
  ...HISTORY,
  ...['tools', 'functions', 'split', 'partition', 'weight'],
  ...['data_source', 'ability', 'extra_info'],
];
/** Pairs of question and answer columns: common pairs first, then generic ones, then speakers. */
export const PAIRS: readonly (readonly [asked: string, answered: string])[] = [
  ['question', 'answer'],
  ['prompt', 'completion'],
  ['prompt', 'response'],
  ['query', 'response'],
  ['input', 'output'],
  ...QUESTION.flatMap((asked) => ANSWER.map((answered) => [asked, answered] as const)),
  ['user', 'assistant'],
  ['human', 'assistant'],
  ['human', 'bot'],
  ['q', 'a'],
];

/**
 * The columns that public datasets have, by what they mean, the plainest name first. The runtime has the same table,
 * `data/layouts/columns.py`, and says there what becomes of columns that are not used.
 */
export const INSTRUCTION = ['instruction'];
export const QUESTION = ['question', 'prompt', 'query', 'input', 'inputs', 'input_text'];
export const ANSWER = [
  ...['output', 'response', 'answer', 'completion', 'target', 'targets'],
  ...['output_text', 'target_text', 'best_answer'],
];
export const SYSTEM = ['system', 'system_prompt', 'system_message'];
/** The columns of Natural Instructions. The definition says what to do with the inputs. */
export const NATURAL_INSTRUCTIONS = ['definition', 'inputs', 'targets'];
export const TEXT = ['text', 'content'];
export const CHOICES = ['choices', 'options', 'endings'];
/** How conversations are called where several columns hold one. */
export const DIALOGUE = ['messages', 'conversations', 'conversation'];
/** Turns before a question that has a column of its own. */
export const HISTORY = ['history'];
/** The better answer and the worse one. */
export const PREFERENCES: readonly (readonly [better: string, worse: string])[] = [
  ['chosen', 'rejected'],
  ['chosen_response', 'rejected_response'],
  ['preferred_output', 'non_preferred_output'],
];
/** Of preferences there are two conversations: one of them would be learnt by chance. */
export const PREFERENCE = PREFERENCES.flat();
/** Whether an answer is good, and what such a column says of it. */
export const FEEDBACK = [
  ...['label', 'kto_tag', 'thumbs', 'thumbs_up'],
  ...['rating', 'feedback', 'desirable', 'is_good'],
];
export const GOOD = ['true', '1', '1.0', 'yes', 'good', 'up', 'thumbs_up', 'thumbs up', 'like', '👍'];
export const BAD = [
  ...['false', '0', '0.0', '-1', 'no', 'bad', 'down'],
  ...['thumbs_down', 'thumbs down', 'dislike', '👎'],
];
/** What is asked where nothing is answered, what answers are compared with, and what may stand beside both. */
export const PROMPTS = ['prompt', 'question', 'query', 'instruction'];
export const REFERENCE = ['reference', 'reference_answer', 'ground_truth', 'solution', 'reward_model'];
export const BESIDE_PROMPTS = [
  ...SYSTEM,
  ...['context', 'passage', 'paragraph'],
  ...HISTORY,
  ...['tools', 'functions', 'split', 'partition', 'weight'],
  ...['data_source', 'ability', 'extra_info'],
];
/** What is asked and what is answered: the usual pairs first, then any of both, then who speaks. */
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

import { PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import { lengthProblem } from '../../../ui/text-problem.ts';

/** Returns the problem of a prompt, if any. */
export function promptProblem(prompt: string): string | undefined {
  return prompt.trim() === '' ? 'Please enter a prompt' : lengthProblem('Prompt', prompt, PROMPT_LENGTH_MAX);
}

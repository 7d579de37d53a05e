import { PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import { lengthProblem } from '../../../ui/text-problem.ts';

/** What is wrong with a prompt. */
export function promptProblem(prompt: string): string | undefined {
  return prompt.trim() === '' ? 'Please enter a prompt' : lengthProblem('Prompt', prompt, PROMPT_LENGTH_MAX);
}

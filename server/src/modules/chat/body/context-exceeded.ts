import { AppError } from '../../../platform/errors.ts';

/**
 * Returns the error for a prompt longer than the context. Clients that shorten conversations automatically
 * recognise its code and the beginning of OpenAI's sentence.
 */
export function contextExceeded(
  { messages }: Record<string, unknown>,
  { most, sent }: { most: number | undefined; sent?: number | undefined },
): AppError {
  const what = messages ? 'conversation' : 'prompt';
  const excess =
    most === undefined
      ? `The ${what} is longer than this model's maximum context length`
      : `This model's maximum context length is ${most} tokens${
          sent !== undefined && sent > most ? `, but the ${what} has ${sent}` : ''
        }`;
  const advice = messages ? 'Shorten the conversation or start a new one' : 'Shorten the prompt';
  return new AppError('context_length_exceeded', {
    publicMessage: `${excess}. ${advice}`,
    param: messages ? 'messages' : 'prompt',
  });
}

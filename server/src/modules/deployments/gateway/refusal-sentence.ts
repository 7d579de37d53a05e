import * as z from 'zod';

const refusal = z.object({
  error: z.object({
    message: z.string(),
    n_prompt_tokens: z.number().optional(),
    n_ctx: z.number().optional(),
  }),
});

/**
 * The sentence for what a model server refuses, from its answer: in its own words, but for a conversation that is
 * too long. Its advice there is for who runs it.
 */
export function refusalSentence(answer: string, modelName: string): string {
  const error = parse(answer);
  if (!error) return 'The model server refused the request';
  if (!/context (size|length)/i.test(error.message)) return error.message;
  const { n_prompt_tokens: asked, n_ctx: most } = error;
  const excess =
    asked !== undefined && most !== undefined
      ? `The conversation has ${asked} tokens, and ${modelName} reads at most ${most}`
      : `The conversation is longer than ${modelName} can read`;
  return `${excess}. Shorten it, or begin a new one`;
}

function parse(answer: string): z.infer<typeof refusal>['error'] | null {
  try {
    return refusal.parse(JSON.parse(answer)).error;
  } catch {
    return null;
  }
}

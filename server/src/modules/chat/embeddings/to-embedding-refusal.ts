import * as z from 'zod';
import { AppError } from '../../../platform/errors.ts';

const refusal = z.object({
  error: z.object({
    message: z.string(),
    index: z.int().optional(),
    n_prompt_tokens: z.number().nullish(),
    n_ctx: z.number().nullish(),
  }),
});

type Asked = { start: number; count: number; isOne: boolean };

/** Converts a model server's rejection of the inputs from `start`, and names the input if known. */
export function toEmbeddingRefusal(answer: string, { start, count, isOne }: Asked): AppError {
  const error = parse(answer);
  const index = error?.index ?? (count === 1 ? 0 : undefined);
  const param = isOne || index === undefined ? 'input' : `input[${start + index}]`;
  const message = error?.message ?? 'The model server refused the request';
  if (!/context (size|length)/i.test(message) && !error?.n_ctx) {
    return new AppError('invalid_request', { publicMessage: `${param}: ${message}`, param });
  }
  const most = error?.n_ctx ?? /maximum context length is (\d+)/i.exec(message)?.[1];
  const what = param === 'input' && !isOne ? 'an input' : param;
  const sent = error?.n_prompt_tokens ? `has ${error.n_prompt_tokens}` : 'has more';
  const excess = most
    ? `This model's maximum context length is ${most} tokens, but ${what} ${sent}`
    : `${what} is longer than this model's maximum context length`;
  return new AppError('context_length_exceeded', {
    publicMessage: `${excess}. Shorten it, or split it`,
    param,
  });
}

function parse(answer: string): z.infer<typeof refusal>['error'] | null {
  try {
    return refusal.parse(JSON.parse(answer)).error;
  } catch {
    return null;
  }
}

import * as z from 'zod';
import { type AppError, invalidParam, invalidRequest } from '../../platform/errors.ts';
import { contextExceeded } from './body/limits.ts';
import { SCHEMA_PARAM } from './grammar/build-grammar.ts';
import { toolsOf } from './tools/callable-tools.ts';

const refusal = z.object({
  error: z.object({
    message: z.string(),
    n_prompt_tokens: z.number().optional(),
    n_ctx: z.number().optional(),
  }),
});

/**
 * Converts a model server's rejection into an error for the caller. Keeps the server's message, with two
 * exceptions: internals are removed, and prompts longer than the context get our message, because the
 * server's advice is meant for operators.
 */
export function toModelServerError(answer: string, body: Record<string, unknown>): AppError {
  const error = parse(answer);
  const message = error?.message ?? 'The model server refused the request';
  if (!error || !/context (size|length)/i.test(message))
    return inPlainWords(message, toolsOf(body) ? 'tools' : SCHEMA_PARAM);
  return contextExceeded(body, { most: error.n_ctx ?? lengthIn(message), sent: error.n_prompt_tokens });
}

/**
 * llama.cpp puts the reason, an error of a chat template or a schema, into a longer message about its
 * internals.
 */
function inPlainWords(message: string, schemaParam: string): AppError {
  const [, ofTemplate, ofSchema] = /Jinja Exception: (.+)|JSON schema error (at .+)/.exec(message) ?? [];
  if (ofSchema) return invalidParam(schemaParam, `${schemaParam}: ${ofSchema}`);
  const isInside = message.startsWith('Unable to generate parser') || message.includes('While executing');
  const publicMessage = isInside ? "The model's chat template cannot read this conversation" : message;
  return invalidRequest(ofTemplate ?? publicMessage);
}

/** vLLM reports this number only in its message. */
function lengthIn(message: string): number | undefined {
  const tokens = /maximum context length is (\d+)/i.exec(message)?.[1];
  return tokens === undefined ? undefined : Number(tokens);
}

function parse(answer: string): z.infer<typeof refusal>['error'] | null {
  try {
    return refusal.parse(JSON.parse(answer)).error;
  } catch {
    return null;
  }
}

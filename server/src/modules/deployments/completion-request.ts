import { AppError } from '../../platform/errors.ts';
import type { ModelServer } from './await-model-server.ts';
import { runningUsage } from './completion-stream.ts';

export type CompletionBody = {
  model: string;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  [parameter: string]: unknown;
};

/** What a caller may set, by OpenAI's names and by those that llama.cpp and vLLM share. */
const passedOn = new Set([
  ...['model', 'messages', 'prompt', 'suffix', 'echo', 'stream', 'n', 'stop', 'seed', 'logit_bias'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'min_p', 'typical_p'],
  ...[
    'presence_penalty',
    'frequency_penalty',
    'repetition_penalty',
    'repeat_penalty',
    'logprobs',
    'top_logprobs',
  ],
  ...[
    'response_format',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning_effort',
    'chat_template_kwargs',
  ],
]);

/** What OpenAI's own service takes and what means nothing here. */
const passedOver = new Set([
  ...['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'prompt_cache_key', 'verbosity'],
  ...['stream_options', 'modalities', 'prediction', 'web_search_options'],
]);

/**
 * The request as the model server gets it: an unknown parameter could make it write answers that
 * nobody counts. Throws AppError 'invalid_request' that names it.
 */
export function toServerRequest(body: CompletionBody, server: ModelServer): object {
  const request: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (passedOn.has(name)) request[name] = value;
    else if (!passedOver.has(name)) {
      throw new AppError('invalid_request', { publicMessage: `Unknown parameter: ${name}`, param: name });
    }
  }
  return { ...request, ...(body.stream && runningUsage[server.engine]), ...server.selection };
}

import type { anthropicError } from '@bakehouse/contract/messages';
import type { FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { type FieldName, renameField } from '../../modules/chat/body/rename-field.ts';
import { type AppError, notFoundError } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import type { Binding, DescribeError } from '../../platform/http/bind.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';

/** Anthropic's status for temporary unavailability. */
const OVERLOADED = 529;

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Returns an error in the format of the Messages API. */
export const describeAnthropicError: DescribeError = (error, { id }) =>
  new Answer(toAnthropicError(error, id), {
    status: error.status === 503 ? OVERLOADED : error.status,
    headers: { 'request-id': id },
  });

/** Describes errors of endpoints that OpenAI's API has too. Anthropic's clients send a version header. */
export const describeEitherError: DescribeError = (error, request) =>
  isForAnthropic(request)
    ? describeAnthropicError(error, request)
    : new Answer(toErrorBody(error, request.id));

/** Fields whose names differ between a message and a chat. */
const names: FieldName[] = [
  [/^response_format\.json_schema\b/, 'output_config.format'],
  [/^tools\.(\d+)\.function\.parameters\b/, 'tools.$1.input_schema'],
  [/^tools\.(\d+)\.function\b/, 'tools.$1'],
  [/^reasoning_effort$/, 'output_config.effort'],
  [/^stop\b/, 'stop_sequences'],
];

/** Returns true if a client of Anthropic's API sent the request. */
export function isForAnthropic({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** Returns 404 to Anthropic's clients, because their endpoint at this path is not supported. */
export function exceptForAnthropic(binding: Binding): Binding {
  return {
    ...binding,
    describeError: describeEitherError,
    handle: async (ctx, input, http) => {
      if (!isForAnthropic(http.request)) return binding.handle(ctx, input, http);
      throw notFoundError(
        "Anthropic's Files API is not supported: send the text of a document inside the messages",
      );
    },
  };
}

/** Returns an error body, which is also the last event of a failed stream. */
export function toAnthropicError(
  { status, code, publicMessage, param }: AppError,
  requestId: string,
): z.infer<typeof anthropicError> {
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  // Agents recognise these words and shorten the conversation.
  const message = code === 'context_length_exceeded' ? `prompt is too long: ${publicMessage}` : publicMessage;
  // Makes Anthropic's tool runners send the whole conversation instead.
  const details = param?.split('.')[0] === 'thread' && {
    details: { error_code: 'thread_unsupported_request' },
  };
  return { type: 'error', error: { type, message, ...details }, request_id: requestId };
}

/** The path of each message and tool of the chat in the body. */
export type Places = { places: string[]; toolPlaces: string[] };

/** Returns the error with the name of the sent field. Errors from before the conversion already have it. */
export function renameMessageField(error: unknown, places: Places | null): unknown {
  return places === null ? error : renameField(error, { names, ...places, rest: 'messages' });
}

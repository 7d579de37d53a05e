import type { anthropicError } from '@bakehouse/contract/messages';
import type { FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { type FieldName, renameField } from '../../modules/chat/body/rename-field.ts';
import { type AppError, notFoundError } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import type { Binding, DescribeError } from '../../platform/http/bind.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';

/** Status that Anthropic uses for temporary unavailability. */
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

/**
 * Returns an error in the format of the client's API, for endpoints that both APIs have. Anthropic's clients
 * send a version header.
 */
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

/**
 * Wraps an endpoint of OpenAI's API so that Anthropic's clients get 404. Their endpoint with the same path is
 * not supported.
 */
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

/** Returns the body of an error response. A stream that fails ends with the same JSON. */
export function toAnthropicError(
  { status, code, publicMessage, param }: AppError,
  requestId: string,
): z.infer<typeof anthropicError> {
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  // Coding agents recognise the words "prompt is too long", and shorten the conversation.
  const message = code === 'context_length_exceeded' ? `prompt is too long: ${publicMessage}` : publicMessage;
  // With this code, Anthropic's tool runners retry with the whole conversation.
  const details = param?.split('.')[0] === 'thread' && {
    details: { error_code: 'thread_unsupported_request' },
  };
  return { type: 'error', error: { type, message, ...details }, request_id: requestId };
}

/** For each message and tool of the chat, its path in the body. */
export type Places = { places: string[]; toolPlaces: string[] };

/** Renames an error's field to its name in the client's body. Earlier errors have it already. */
export function renameMessageField(error: unknown, places: Places | null): unknown {
  return places === null ? error : renameField(error, { names, ...places, rest: 'messages' });
}

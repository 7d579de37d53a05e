import type { anthropicError } from '@bakehouse/contract/messages';
import type * as z from 'zod';
import { AppError } from '../../../platform/errors.ts';
import type { Binding, DescribeError, Http } from '../../../platform/http/bind.ts';
import { toErrorBody } from '../../../platform/http/send-error.ts';

/** Anthropic's own status for what is not there now. */
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

/** An error of the Messages API as its clients read it, with their header for the request's id. */
export const describeAnthropicError: DescribeError = (error, { request, reply }) => {
  reply.header('request-id', request.id);
  if (error.status === 503) reply.code(OVERLOADED);
  return toAnthropicError(error, request.id);
};

/** The same for calls that OpenAI's API has too: clients of Anthropic's send a header with its version. */
export const describeEitherError: DescribeError = (error, http) =>
  isForAnthropic(http) ? describeAnthropicError(error, http) : toErrorBody(error, http.request.id);

/** Whether a client of Anthropic's API has sent the request. Pure. */
export function isForAnthropic({ request }: Pick<Http, 'request'>): boolean {
  return request.headers['anthropic-version'] !== undefined;
}

/** Answers Anthropic's clients with 404 in their error shape, because Anthropic's call at the same path is not offered. */
export function exceptForAnthropic(binding: Binding): Binding {
  return {
    ...binding,
    describeError: describeEitherError,
    handle: async (ctx, input, http) => {
      if (!isForAnthropic(http)) return binding.handle(ctx, input, http);
      throw new AppError('not_found', {
        publicMessage: "Anthropic's Files API is not here: send the text of a document inside the messages",
      });
    },
  };
}

/** Its body; also the last event of a stream that breaks off. */
export function toAnthropicError(
  { status, code, publicMessage, param }: AppError,
  requestId: string,
): z.infer<typeof anthropicError> {
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  // Agents that shorten a conversation by themselves know by these words that they have to.
  const message = code === 'context_length_exceeded' ? `prompt is too long: ${publicMessage}` : publicMessage;
  // Its tool runners then go on with the whole conversation.
  const details = param?.split('.')[0] === 'thread' && {
    details: { error_code: 'thread_unsupported_request' },
  };
  return { type: 'error', error: { type, message, ...details }, request_id: requestId };
}

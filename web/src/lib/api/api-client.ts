import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { sessionSettled } from '../session/session-change.ts';
import { broadcastSession } from '../session/session-channel.ts';
import { deleteKey, rejectKey } from '../session/unanswered-keys.ts';
import { ApiError } from './api-error.ts';
import { getCredentials } from './credentials.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { isRefused } from './idempotency-key.ts';
import { discardSharedReads, shareRead } from './shared-reads.ts';

export type CallOptions = {
  /** Extra headers. */
  headers?: Record<string, string>;
  /**
   * Required for calls that spend. A retry with the same key returns the first result instead of charging
   * again.
   */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds to wait for the complete response. Defaults to 10,000. */
  timeoutMs?: number;
  /** Defaults to following redirects. */
  redirect?: RequestRedirect;
  /** Authenticates with the session cookie instead of the API key, which may be outdated. */
  bySession?: boolean;
  /** Error message if there is no key. Defaults to 'API key not found'. */
  noKey?: string;
  /** Completes 'Failed to …' if the response has no message. Defaults to the endpoint's name. */
  operation?: string;
  /** Completes the request even if the page is closed. Browsers limit such bodies to 64 KB in total. */
  keepalive?: boolean;
};

/** Arguments of a call; an endpoint without parameters needs none. */
export type CallArguments<E extends Endpoint> =
  Record<string, never> extends CallOf<E>
    ? [input?: CallOf<E>, options?: CallOptions]
    : [input: CallOf<E>, options?: CallOptions];

/**
 * Calls an endpoint of the contract and returns its response. Throws an `ApiError` with a displayable
 * message, or the signal's reason on abort. A 401 or 403 makes all tabs reload their session.
 */
export async function call<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: CallArguments<E>
): Promise<ResponseOf<E>> {
  const { params, query, body } = (input ?? {}) as { params?: object; query?: object; body?: unknown };
  const url = endpointUrl(endpoint.path, params, query);
  if (endpoint.method === 'GET') {
    const who = getCredentials()?.apiKey ?? '';
    return shareRead(`${who} ${url}`, options.signal, (signal) =>
      ask<E>(endpoint, url, body, { ...options, signal }),
    );
  }
  try {
    const answer = await ask<E>(endpoint, url, body, options);
    if (options.idempotencyKey) deleteKey(options.idempotencyKey);
    return answer;
  } catch (error) {
    if (options.idempotencyKey && isRefused(error)) rejectKey(options.idempotencyKey);
    throw error;
  } finally {
    discardSharedReads();
  }
}

function ask<E extends Endpoint>(
  endpoint: E,
  url: string,
  body: unknown,
  options: CallOptions,
): Promise<ResponseOf<E>> {
  return request(endpoint, url, body, options, async (response) =>
    response.status === 204 ? (undefined as ResponseOf<E>) : ((await response.json()) as ResponseOf<E>),
  );
}

/**
 * Returns the raw response, for binary or streaming endpoints. The timeout covers the time to the first byte.
 */
export async function callRaw<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: CallArguments<E>
): Promise<Response> {
  const { params, query, body } = (input ?? {}) as { params?: object; query?: object; body?: unknown };
  return request(endpoint, endpointUrl(endpoint.path, params, query), body, options, (response) => response);
}

async function request<Answer>(
  endpoint: Endpoint,
  url: string,
  body: unknown,
  options: CallOptions,
  read: (response: Response) => Promise<Answer> | Answer,
): Promise<Answer> {
  const {
    operation = endpoint.operation ?? 'reach the server',
    redirect = 'follow',
    keepalive = false,
    signal,
    timeoutMs,
  } = options;
  if (options.bySession || endpoint.access === 'session') await sessionSettled(signal);
  const headers = new Headers({
    ...options.headers,
    ...(options.bySession ? {} : keyHeader(endpoint, options.noKey)),
  });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (endpoint.spends) {
    // Generating a key here would give a retry a different key.
    if (!options.idempotencyKey) throw new Error(`${endpoint.path} was called with no idempotency key`);
    headers.set('idempotency-key', options.idempotencyKey);
  }
  const { method } = endpoint;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetchAnswer(
      url,
      { method, headers, body: sent, redirect, keepalive },
      { read, operation, signal, timeoutMs },
    );
  } catch (error) {
    throw error instanceof ApiError ? refused(endpoint, error) : error;
  }
}

/** Throws if the endpoint needs a key and there is none. */
export function keyHeader(endpoint: Endpoint, noKey = 'API key not found'): Record<string, string> {
  const credentials = getCredentials();
  if (endpoint.access === 'key_or_session') return credentials ? { 'x-api-key': credentials.apiKey } : {};
  if (endpoint.access !== 'key' && endpoint.access !== 'operator') return {};
  if (!credentials) throw new ApiError(noKey, { status: 0, code: 'no_key' });
  return { 'x-api-key': credentials.apiKey };
}

/** Returns the error unchanged. Notifies all tabs first if the server rejected the key. */
export function refused(endpoint: Endpoint, error: ApiError): ApiError {
  const aboutTheKey = endpoint.access === 'key' || endpoint.access === 'operator';
  if (aboutTheKey && (error.status === 401 || error.status === 403)) {
    broadcastSession({ type: 'invalid-key', userId: getCredentials()?.userId ?? null });
  }
  return error;
}
